"""Options of the shop (django-oscar)."""

OSCAR_SHOP_NAME = "Fern & Finch"
OSCAR_SHOP_TAGLINE = "Goods for home, trail and desk"
OSCAR_DEFAULT_CURRENCY = "USD"
OSCAR_THUMBNAILER = "suite.storage.PlainThumbnailer"
OSCAR_IMAGE_FOLDER = "images/products/"  # oscar's default puts the month into addresses
OSCAR_INITIAL_ORDER_STATUS = "Pending"
OSCAR_INITIAL_LINE_STATUS = "Pending"
OSCAR_ORDER_STATUS_PIPELINE = {
    "Pending": ("Being processed", "Cancelled"),
    "Being processed": ("Shipped", "Cancelled"),
    "Shipped": ("Delivered",),
    "Delivered": (),
    "Cancelled": (),
}
OSCAR_LINE_STATUS_PIPELINE = OSCAR_ORDER_STATUS_PIPELINE
OSCAR_ORDER_STATUS_CASCADE = {status: status for status in OSCAR_ORDER_STATUS_PIPELINE}

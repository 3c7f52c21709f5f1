"""Product pictures, drawn: a coloured card with the title on it."""

import hashlib
import io

from PIL import Image, ImageDraw

SIZE = 320


def product_picture(title: str) -> bytes:
    """A PNG that follows from the title alone."""
    red, green, blue = (60 + byte % 160 for byte in hashlib.sha256(title.encode()).digest()[:3])
    image = Image.new("P", (SIZE, SIZE))
    image.putpalette([red, green, blue, 255, 255, 255])
    draw = ImageDraw.Draw(image)
    draw.rectangle((40, 40, SIZE - 40, SIZE - 40), outline=1, width=6)
    draw.text((60, SIZE // 2), title, fill=1)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()

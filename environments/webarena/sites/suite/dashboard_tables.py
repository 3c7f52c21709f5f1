"""Takes the sort links off columns of oscar's dashboard that are no fields: following one fails in oscar."""

from oscar.apps.dashboard.catalogue.tables import CategoryTable, ProductTable
from oscar.apps.dashboard.users.tables import UserTable

NOT_FIELDS = ("checkbox", "actions")


def install() -> None:
    """Changes the columns of the tables that have them."""
    for table in (CategoryTable, ProductTable, UserTable):
        for name in NOT_FIELDS:
            if name in table.base_columns:
                table.base_columns[name].orderable = False

"""The shop: django-oscar with its dashboard."""

from django.apps import apps
from django.urls import include, path
from django.views.generic import RedirectView

from suite.urls import common

urlpatterns = [
    *common.urlpatterns,
    path("login/", RedirectView.as_view(pattern_name="customer:login", query_string=True), name="login"),
    path("", include(apps.get_app_config("oscar").urls[0])),
]

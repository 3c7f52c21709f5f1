"""The wiki: django-wiki, with the notifications it sends."""

from django.urls import include, path
from django.views.generic import RedirectView

from suite.urls import common

urlpatterns = [
    *common.urlpatterns,
    path("login/", RedirectView.as_view(pattern_name="wiki:login", query_string=True), name="login"),
    path("notifications/", include("django_nyt.urls")),
    path("", include("wiki.urls")),
]

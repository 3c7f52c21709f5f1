"""The forum: django-machina, with Django's own log-in pages."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

from suite.urls import common

urlpatterns = [
    *common.urlpatterns,
    path("login/", LoginView.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("", include("machina.urls")),
]

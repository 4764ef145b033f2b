"""Every address of the app. `tests/collect/test_authorisation.py` wants a row for each."""

from __future__ import annotations

from django.urls import path

from adjudge.collect import pages
from adjudge.collect.endpoints import api

urlpatterns = [
    path("", pages.home),
    path("enter", pages.enter_page),
    path("work", pages.work_page),
    path("organise", pages.organise_page),
    path("health", pages.health),
    path("logo", pages.logo),
    path("static/<str:version>/<path:name>", pages.page_file),
    path("api/", api.urls),
]
handler400 = pages.bad_request
handler404 = pages.not_found
handler500 = pages.server_error

"""Neutron's own server, its API alone: the workers that talk to agents would have nobody to talk to."""
import neutron.cmd.eventlet  # noqa: F401, must come first: it makes the standard library fit for green threads

from neutron import server
from neutron import service

server.boot_server(lambda: service.serve_wsgi(service.NeutronApiService).wait())

"""The lowest layer of Neutron without a network: what an agent would wire up and report is reported at once."""
from neutron.db.availability_zone import router as router_zones
from neutron.db import dns_db
from neutron.db import extraroute_db
from neutron.db import l3_fip_pools_db
from neutron.db import l3_fip_port_details
from neutron.db import l3_gwmode_db
from neutron.db.models import l3 as models
from neutron.quota import resource_registry
from neutron_lib.api.definitions import dns
from neutron_lib.api.definitions import extraroute
from neutron_lib.api.definitions import extraroute_atomic
from neutron_lib.api.definitions import fip_port_details
from neutron_lib.api.definitions import floatingip_pools
from neutron_lib.api.definitions import l3
from neutron_lib.api.definitions import l3_ext_gw_mode
from neutron_lib.api.definitions import portbindings
from neutron_lib.api.definitions import router_availability_zone
from neutron_lib.callbacks import events
from neutron_lib.callbacks import registry
from neutron_lib.callbacks import resources
from neutron_lib import constants
from neutron_lib import context as contexts
from neutron_lib.plugins import constants as plugins
from neutron_lib.plugins import directory
from neutron_lib.plugins.ml2 import api
from neutron_lib.services import base
from oslo_config import cfg

cfg.CONF.register_opts([cfg.DictOpt('hosts', help='The availability zones of hosts.')], group='trellis')


class Wires(api.MechanismDriver):
    """Binds a port to whatever host it is put on."""

    connectivity = portbindings.CONNECTIVITY_L2

    def initialize(self):
        pass

    def bind_port(self, context):
        segment = next(iter(context.segments_to_bind), None)
        if segment:
            details = {portbindings.CAP_PORT_FILTER: True, portbindings.VIF_DETAILS_CONNECTIVITY: self.connectivity}
            context.set_binding(segment[api.ID], portbindings.VIF_TYPE_OVS, details, constants.PORT_STATUS_ACTIVE)


@registry.has_registry_receivers
class Routers(base.ServicePluginBase,
              extraroute_db.ExtraRoute_dbonly_mixin,
              l3_gwmode_db.L3_NAT_dbonly_mixin,
              dns_db.DNSDbMixin,
              router_zones.RouterAvailabilityZoneMixin,
              l3_fip_port_details.Fip_port_details_db_mixin,
              l3_fip_pools_db.FloatingIPPoolsMixin):
    """Routers and floating IPs as Neutron keeps them in its database, for a cloud without L3 agents."""

    supported_extension_aliases = [definition.ALIAS for definition in (
        dns, extraroute, extraroute_atomic, fip_port_details, floatingip_pools, l3, l3_ext_gw_mode,
        router_availability_zone)]

    # The API layer looks for these, under names that Python derives from the class's own.
    __native_pagination_support = True
    __native_sorting_support = True
    __filter_validation_support = True

    @resource_registry.tracked_resources(router=models.Router, floatingip=models.FloatingIP)
    def __init__(self):
        super().__init__()

    @classmethod
    def get_plugin_type(cls):
        return plugins.L3

    def get_plugin_description(self):
        return 'Routers without agents'

    def validate_availability_zones(self, context, resource_type, availability_zones):
        directory.get_plugin().validate_availability_zones(context, resource_type, availability_zones)

    def get_router_availability_zones(self, router):
        return []  # nothing hosts a router

    @registry.receives(resources.PROCESS, [events.BEFORE_SPAWN])
    def _register_agents(self, resource, event, trigger, payload):
        # Neutron knows zones only as something that agents have.
        for host, zone in cfg.CONF.trellis.hosts.items():
            for kind, binary, topic in ((constants.AGENT_TYPE_DHCP, 'neutron-dhcp-agent', 'dhcp_agent'),
                                        (constants.AGENT_TYPE_L3, 'neutron-l3-agent', 'l3_agent')):
                directory.get_plugin().create_or_update_agent(contexts.get_admin_context(), {
                    'agent_type': kind, 'binary': binary, 'topic': topic, 'host': host,
                    'availability_zone': zone})

    @registry.receives(resources.PORT, [events.AFTER_CREATE, events.AFTER_UPDATE])
    def _raise_router_port(self, resource, event, trigger, payload):
        port = payload.latest_state
        if (port['device_owner'] in (constants.DEVICE_OWNER_ROUTER_INTF, constants.DEVICE_OWNER_ROUTER_GW) and
                port['status'] == constants.PORT_STATUS_DOWN):
            directory.get_plugin().update_port_status(payload.context, port['id'], constants.PORT_STATUS_ACTIVE)

    @registry.receives(resources.FLOATING_IP, [events.AFTER_CREATE, events.AFTER_UPDATE])
    def _report_floating_ip(self, resource, event, trigger, payload):
        floating_ip = payload.latest_state
        status = constants.FLOATINGIP_STATUS_ACTIVE if floating_ip['port_id'] else constants.FLOATINGIP_STATUS_DOWN
        if floating_ip['status'] != status:
            self.update_floatingip_status(payload.context.elevated(), floating_ip['id'], status)
            floating_ip['status'] = status  # it is on its way to the client

"""Stands in for Nova, so that the real Octavia and the real Neutron need no hypervisor.

The compute driver does what Nova does to Neutron when a server is plugged into a network: it takes
ownership of the port, or makes one, and gives it back. All else of Octavia is as shipped.
"""
import os
from types import SimpleNamespace

from octavia.certificates.generator import local
from octavia.common import clients
from octavia.common import exceptions
from octavia.compute.drivers.noop_driver import driver
from oslo_config import cfg


class ComputeDriver(driver.NoopComputeDriver):

    @property
    def neutron(self):
        settings = cfg.CONF.neutron
        return clients.NeutronAuth.get_neutron_client(
            endpoint=settings.endpoint, region=settings.region_name,
            endpoint_type=settings.endpoint_type, service_name=settings.service_name,
            insecure=settings.insecure, ca_cert=settings.ca_certificates_file)

    def build(self, *args, **kwargs):
        # A test makes this file when it wants load balancers that end in ERROR.
        if os.path.exists(os.environ['CAUSEWAY_COMPUTE_BROKEN']):
            raise exceptions.ComputeBuildException(fault='no valid host was found')
        return super().build(*args, **kwargs)

    def attach_network_or_port(self, compute_id, network_id=None, ip_address=None, port_id=None):
        if port_id is None:
            port = self.neutron.create_port({'port': {
                'network_id': network_id,
                'device_id': compute_id,
                'device_owner': 'compute:nova'}})['port']
        else:
            port = self.neutron.update_port(port_id, {'port': {'device_id': compute_id}})['port']
        return SimpleNamespace(
            port_id=port['id'], net_id=port['network_id'], fixed_ips=port['fixed_ips'])

    def detach_port(self, compute_id, port_id):
        self.give_back(self.neutron.show_port(port_id)['port'])

    def delete(self, compute_id):
        for port in self.neutron.list_ports(device_id=compute_id)['ports']:
            self.give_back(port)

    def give_back(self, port):
        """Nova deletes the ports it made and leaves those it was given."""
        if port['device_owner'].startswith('compute:'):
            self.neutron.delete_port(port['id'])
        else:
            self.neutron.update_port(port['id'], {'port': {'device_id': ''}})


class OneKeyCertGenerator(local.LocalCertGenerator):
    """One key pair for all amphorae of the process: making one costs a third of a second."""

    made = None

    @classmethod
    def generate_cert_key_pair(cls, *args, **kwargs):
        if cls.made is None:
            cls.made = super().generate_cert_key_pair(*args, **kwargs)
        return cls.made

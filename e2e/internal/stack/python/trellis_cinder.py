"""The lowest layer of Cinder without disks: a volume is its row in the database."""
from cinder import interface
from cinder.volume import driver


@interface.volumedriver
class Records(driver.VolumeDriver):
    VERSION = '1'
    CI_WIKI_NAME = 'none'

    def do_setup(self, context):
        pass

    def check_for_setup_error(self):
        pass

    def _update_volume_stats(self):
        self._stats = dict(
            volume_backend_name=self.configuration.safe_get('volume_backend_name'),
            vendor_name='Trellis', driver_version=self.VERSION, storage_protocol='fake',
            total_capacity_gb='infinite', free_capacity_gb='infinite', reserved_percentage=0,
            multiattach=True, thin_provisioning_support=True)

    def create_volume(self, volume):
        pass

    def delete_volume(self, volume):
        pass

    def extend_volume(self, volume, new_size):
        pass

    def create_snapshot(self, snapshot):
        pass

    def delete_snapshot(self, snapshot):
        pass

    def create_volume_from_snapshot(self, volume, snapshot):
        pass

    def create_cloned_volume(self, volume, src_vref):
        pass

    def clone_image(self, context, volume, image_location, image_meta, image_service):
        # True: no bytes need to be copied.
        return {}, True

    def copy_volume_to_image(self, context, volume, image_service, image_meta):
        pass

    def ensure_export(self, context, volume):
        pass

    def create_export(self, context, volume, connector):
        pass

    def remove_export(self, context, volume):
        pass

    def initialize_connection(self, volume, connector):
        return {'driver_volume_type': 'fake', 'data': {'volume_id': volume.id, 'access_mode': 'rw'}}

    def terminate_connection(self, volume, connector, **kwargs):
        pass

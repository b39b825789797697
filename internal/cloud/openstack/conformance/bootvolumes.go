package conformance

import (
	"maps"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func bootVolumes() []Behaviour {
	fromImage := func(c *Case, more Body) Body {
		device := Body{
			"boot_index": 0, "source_type": "image", "uuid": c.Image(tinyImage), "destination_type": "volume", "volume_size": 2, "delete_on_termination": true,
		}
		maps.Copy(device, more)
		return c.ServerBody(Body{"imageRef": nil, "networks": "none", "block_device_mapping_v2": []Body{device}})
	}
	volumesOf := func(c *Case, server Object) []Object {
		return c.Member.Get(Compute, serverPath(server), at("2.3")...).Succeeds(200).Objects("os-extended-volumes:volumes_attached")
	}
	return []Behaviour{
		behaviour("a server that boots from a volume made of an image takes the volume along", func(c *Case) {
			made := c.postServer(fromImage(c, nil), at("2.37")...)
			got := c.Becomes(made, "ACTIVE")
			assert.Empty(c, got.Text("image"))
			disks := volumesOf(c, made)
			require.Len(c, disks, 1)
			volume := c.Member.Get(Volume, c.volumePath(disks[0])).Succeeds(200)
			assert.Equal(c, []string{"2", "true", "in-use"}, []string{volume.Text("size"), volume.Text("bootable"), volume.Text("status")})
			c.Member.Get(Compute, serverPath(made)+"/os-volume_attachments", at("2.79")...).Succeeds(200)
			c.Member.Delete(Compute, serverPath(made)).Succeeds(204)
			c.Gone(Compute, serverPath(made))
			c.Gone(Volume, c.volumePath(disks[0]))
			assert.Empty(c, c.Member.Get(Volume, c.volumes()).List("volumes"))
		}),
		behaviour("a boot volume that is not to go with its server stays", func(c *Case) {
			made := c.postServer(fromImage(c, Body{"delete_on_termination": false}), at("2.37")...)
			c.Becomes(made, "ACTIVE")
			disks := volumesOf(c, made)
			require.Len(c, disks, 1)
			c.Remove(c.Member, Volume, c.volumePath(disks[0]))
			c.Member.Delete(Compute, serverPath(made)).Succeeds(204)
			c.Gone(Compute, serverPath(made))
			c.VolumeBecomes(disks[0], "available")
			c.Member.Get(Volume, c.volumePath(disks[0])).Succeeds(200)
		}),
		behaviour("a server boots from a bootable volume that was made before", func(c *Case) {
			volume := c.Volume(Body{"imageRef": c.Image(tinyImage), "size": 2})
			assert.Equal(c, "true", c.Member.Get(Volume, c.volumePath(volume)).Succeeds(200).Text("bootable"))
			device := Body{"source_type": "volume", "uuid": volume.ID(), "destination_type": "volume"}
			made := c.postServer(fromImage(c, device), at("2.37")...)
			c.Becomes(made, "ACTIVE")
			c.Member.Get(Compute, serverPath(made), at("2.3")...).Succeeds(200)
			c.Member.Delete(Compute, serverPath(made)).Succeeds(204)
			c.Gone(Compute, serverPath(made))
			c.Gone(Volume, c.volumePath(volume))
		}),
		behaviour("a data disk is a blank volume beside the image", func(c *Case) {
			body := c.ServerBody(Body{"networks": "none", "block_device_mapping_v2": []Body{
				{"boot_index": 0, "source_type": "image", "uuid": c.Image(tinyImage), "destination_type": "local", "delete_on_termination": true},
				{"boot_index": -1, "source_type": "blank", "destination_type": "volume", "volume_size": 1, "delete_on_termination": true},
			}})
			made := c.postServer(body, at("2.37")...)
			c.Becomes(made, "ACTIVE")
			disks := volumesOf(c, made)
			require.Len(c, disks, 1)
			c.Member.Get(Volume, c.volumePath(disks[0])).Succeeds(200)
			c.Member.Delete(Compute, serverPath(made)).Succeeds(204)
			c.Gone(Compute, serverPath(made))
			c.Gone(Volume, c.volumePath(disks[0]))
		}),
		behaviour("what a server cannot boot from is refused", func(c *Case) {
			refused := func(more Body) {
				c.Helper()
				c.Member.Post(Compute, serversPath, fromImage(c, more), at("2.37")...).Refused(400, "badRequest")
			}
			refused(Body{"uuid": nothing})
			refused(Body{"source_type": "volume", "uuid": nothing})
			refused(Body{"boot_index": -1})
			refused(Body{"volume_size": 0})
			refused(Body{"source_type": "tape"})
			refused(Body{"uuid": "none"})
			refused(Body{"source_type": "volume", "uuid": c.Volume(nil).ID()})
		}),
	}
}

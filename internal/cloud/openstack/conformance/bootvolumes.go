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
		return c.Member.Get(Compute, serverPath(server), microversionHeader("2.3")...).RequireStatus(200).Objects("os-extended-volumes:volumes_attached")
	}
	return []Behaviour{
		behaviour("a server that boots from a volume made of an image takes the volume along", func(c *Case) {
			created := c.postServer(fromImage(c, nil), microversionHeader("2.37")...)
			got := c.WaitForServer(created, "ACTIVE")
			assert.Empty(c, got.Text("image"))
			disks := volumesOf(c, created)
			require.Len(c, disks, 1)
			volume := c.Member.Get(Volume, c.volumePath(disks[0])).RequireStatus(200)
			assert.Equal(c, []string{"2", "true", "in-use"}, []string{volume.Text("size"), volume.Text("bootable"), volume.Text("status")})
			c.Member.Get(Compute, serverPath(created)+"/os-volume_attachments", microversionHeader("2.79")...).RequireStatus(200)
			c.Member.Delete(Compute, serverPath(created)).RequireStatus(204)
			c.WaitUntilGone(Compute, serverPath(created))
			c.WaitUntilGone(Volume, c.volumePath(disks[0]))
			assert.Empty(c, c.Member.Get(Volume, c.volumes()).List("volumes"))
		}),
		behaviour("a boot volume that is not to go with its server stays", func(c *Case) {
			created := c.postServer(fromImage(c, Body{"delete_on_termination": false}), microversionHeader("2.37")...)
			c.WaitForServer(created, "ACTIVE")
			disks := volumesOf(c, created)
			require.Len(c, disks, 1)
			c.DeleteAtCleanup(c.Member, Volume, c.volumePath(disks[0]))
			c.Member.Delete(Compute, serverPath(created)).RequireStatus(204)
			c.WaitUntilGone(Compute, serverPath(created))
			c.WaitForVolume(disks[0], "available")
			c.Member.Get(Volume, c.volumePath(disks[0])).RequireStatus(200)
		}),
		behaviour("a server boots from a bootable volume that was made before", func(c *Case) {
			volume := c.Volume(Body{"imageRef": c.Image(tinyImage), "size": 2})
			assert.Equal(c, "true", c.Member.Get(Volume, c.volumePath(volume)).RequireStatus(200).Text("bootable"))
			device := Body{"source_type": "volume", "uuid": volume.ID(), "destination_type": "volume"}
			created := c.postServer(fromImage(c, device), microversionHeader("2.37")...)
			c.WaitForServer(created, "ACTIVE")
			c.Member.Get(Compute, serverPath(created), microversionHeader("2.3")...).RequireStatus(200)
			c.Member.Delete(Compute, serverPath(created)).RequireStatus(204)
			c.WaitUntilGone(Compute, serverPath(created))
			c.WaitUntilGone(Volume, c.volumePath(volume))
		}),
		behaviour("a data disk is a blank volume beside the image", func(c *Case) {
			body := c.ServerBody(Body{"networks": "none", "block_device_mapping_v2": []Body{
				{"boot_index": 0, "source_type": "image", "uuid": c.Image(tinyImage), "destination_type": "local", "delete_on_termination": true},
				{"boot_index": -1, "source_type": "blank", "destination_type": "volume", "volume_size": 1, "delete_on_termination": true},
			}})
			created := c.postServer(body, microversionHeader("2.37")...)
			c.WaitForServer(created, "ACTIVE")
			disks := volumesOf(c, created)
			require.Len(c, disks, 1)
			c.Member.Get(Volume, c.volumePath(disks[0])).RequireStatus(200)
			c.Member.Delete(Compute, serverPath(created)).RequireStatus(204)
			c.WaitUntilGone(Compute, serverPath(created))
			c.WaitUntilGone(Volume, c.volumePath(disks[0]))
		}),
		behaviour("what a server cannot boot from is refused", func(c *Case) {
			refused := func(more Body) {
				c.Helper()
				c.Member.Post(Compute, serversPath, fromImage(c, more), microversionHeader("2.37")...).AssertError(400, "badRequest")
			}
			refused(Body{"uuid": unknownComputeID})
			refused(Body{"source_type": "volume", "uuid": unknownComputeID})
			refused(Body{"boot_index": -1})
			refused(Body{"volume_size": 0})
			refused(Body{"source_type": "tape"})
			refused(Body{"uuid": "none"})
			refused(Body{"source_type": "volume", "uuid": c.Volume(nil).ID()})
		}),
	}
}

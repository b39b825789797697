package conformance

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// VolumeType makes a type of volumes, as an operator.
func (c *Case) VolumeType(name string) Object {
	c.Helper()
	return c.FixtureAs(c.Operator, Volume, c.volumeTypes(c.Operator), Body{"volume_type": Body{"name": name}})
}

func (c *Case) volumeTypes(caller *Caller) string { return "/v3/" + caller.ProjectID + "/types" }

func typesOfVolumes() []Behaviour {
	typed := func(c *Case, bootType, dataType string) Body {
		devices := []Body{{
			"boot_index": 0, "source_type": "image", "uuid": c.Image(tinyImage), "destination_type": "volume", "volume_size": 2,
			"delete_on_termination": true, "volume_type": bootType,
		}, {
			"boot_index": -1, "source_type": "blank", "destination_type": "volume", "volume_size": 1,
			"delete_on_termination": true, "volume_type": dataType,
		}}
		return c.ServerBody(Body{"imageRef": nil, "networks": "none", "block_device_mapping_v2": devices})
	}
	return []Behaviour{
		behaviour("a type of volumes that an operator made is there for everybody until it is deleted", func(c *Case) {
			types := c.volumeTypes(c.Member)
			c.Member.Post(Volume, types, Body{"volume_type": Body{"name": "fast"}}).AssertError(403, "forbidden")
			created := c.Operator.Post(Volume, c.volumeTypes(c.Operator), Body{"volume_type": Body{"name": "fast"}}).RequireStatus(200)
			path := c.volumeTypes(c.Operator) + "/" + created.ID()
			c.DeleteAtCleanup(c.Operator, Volume, path)
			c.Operator.Post(Volume, c.volumeTypes(c.Operator), Body{"volume_type": Body{"name": "fast"}}).AssertError(409, "conflictingRequest")
			assert.Len(c, c.Member.Get(Volume, types).List("volume_types"), 2)
			assert.Equal(c, "fast", c.Member.Get(Volume, types+"/"+created.ID()).RequireStatus(200).Text("name"))
			c.Member.Delete(Volume, types+"/"+created.ID()).AssertError(403, "forbidden")
			c.Operator.Delete(Volume, path).RequireStatus(202)
			c.Member.Get(Volume, types+"/"+created.ID()).AssertError(404, "itemNotFound")
			c.Operator.Delete(Volume, path).AssertError(404, "itemNotFound")
		}),
		behaviour("a volume is of the type that it names, by ID or, in whatever capitals, by name", func(c *Case) {
			fast := c.VolumeType("fast")
			for _, named := range []string{"fast", fast.ID(), "FAST"} {
				volume := c.Volume(Body{"volume_type": named})
				assert.Equal(c, "fast", c.Member.Get(Volume, c.volumePath(volume)).RequireStatus(200).Text("volume_type"))
			}
			for _, unknown := range []string{"fas", unknownComputeID} {
				c.TryCreate(Volume, c.volumes(), Body{"volume": Body{"size": 1, "volume_type": unknown}}).AssertError(404, "itemNotFound")
			}
		}),
		behaviour("a server's volumes are of the types that it names", func(c *Case) {
			fast := c.VolumeType("fast")
			created := c.postServer(typed(c, "fast", fast.ID()), microversionHeader("2.67")...)
			c.WaitForServer(created, "ACTIVE")
			volumes := c.Member.Get(Volume, c.volumes()+"/detail").List("volumes")
			require.Len(c, volumes, 2)
			for _, volume := range volumes {
				assert.Equal(c, "fast", volume.Text("volume_type"))
			}
			c.Member.Delete(Compute, serverPath(created)).RequireStatus(204)
			c.WaitUntilGone(Compute, serverPath(created))
			for _, volume := range volumes {
				c.WaitUntilGone(Volume, c.volumePath(volume))
			}
		}),
		behaviour("a server with a volume of a type that does not exist is refused", func(c *Case) {
			for _, types := range [][2]string{{"none", "__DEFAULT__"}, {"__DEFAULT__", "none"}, {unknownComputeID, unknownComputeID}, {"__default__", "__DEFAULT__"}} {
				c.Member.Post(Compute, serversPath, typed(c, types[0], types[1]), microversionHeader("2.67")...).AssertError(400, "badRequest")
			}
			assert.Empty(c, c.Member.Get(Compute, serversPath).List("servers"))
			assert.Empty(c, c.Member.Get(Volume, c.volumes()).List("volumes"))
		}),
		behaviour("a server names no type of its volumes before microversion 2.67", func(c *Case) {
			c.Member.Post(Compute, serversPath, typed(c, "__DEFAULT__", "__DEFAULT__"), microversionHeader("2.66")...).AssertError(400, "badRequest")
		}),
	}
}

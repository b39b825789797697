package conformance

import (
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func volumes() []Behaviour {
	return slices.Concat(volumeLifecycle(), typesOfVolumes(), listsOfVolumes(), attachedVolumes(), bootVolumes())
}

func (c *Case) volumePath(volume Object) string { return c.volumes() + "/" + volume.ID() }

// postVolume asks for a volume and removes it at the end. It is written down.
func (c *Case) postVolume(attributes Body) Object {
	c.Helper()
	created := c.Member.Post(Volume, c.volumes(), Body{"volume": attributes}).RequireStatus(202)
	c.DeleteAtCleanup(c.Member, Volume, c.volumePath(created))
	return created
}

func volumeLifecycle() []Behaviour {
	return []Behaviour{
		behaviour("a volume is creating, then available, and gone some time after it was deleted", func(c *Case) {
			created := c.postVolume(Body{"name": "data", "size": 1, "description": "of one", "metadata": Body{"pool": "a"}})
			assert.Equal(c, "creating", created.Text("status"))
			c.WaitForVolume(created, "available")
			got := c.Member.Get(Volume, c.volumePath(created)).RequireStatus(200)
			assert.Equal(c, "1", got.Text("size"))
			assert.Equal(c, "a", got.Text("metadata.pool"))
			assert.Equal(c, "false", got.Text("bootable"))
			c.Member.Delete(Volume, c.volumePath(created)).RequireStatus(202)
			c.WaitUntilGone(Volume, c.volumePath(created))
			c.Member.Get(Volume, c.volumePath(created)).AssertError(404, "itemNotFound")
			c.Member.Delete(Volume, c.volumePath(created)).AssertError(404, "itemNotFound")
		}),
		behaviour("a volume of no named type is of the default type", func(c *Case) {
			volume := c.Volume(nil)
			assert.Equal(c, "__DEFAULT__", c.Member.Get(Volume, c.volumePath(volume)).RequireStatus(200).Text("volume_type"))
			assert.Len(c, c.Member.Get(Volume, "/v3/"+c.Member.ProjectID+"/types").List("volume_types"), 1)
			c.postVolume(Body{"size": 1, "volume_type": "__DEFAULT__"})
		}),
		behaviour("a volume has a size of at least 1 GiB, and refers to things that exist", func(c *Case) {
			refused := func(attributes Body) {
				c.Helper()
				c.Member.Post(Volume, c.volumes(), Body{"volume": attributes}).AssertError(400, "badRequest")
			}
			for _, size := range []any{0, -1, "x", "0", 1.5, nil} {
				refused(Body{"size": size, "name": "data"})
			}
			refused(Body{"name": "data"})
			refused(Body{"size": 1, "name": strings.Repeat("a", 256)})
			refused(Body{"size": 1, "metadata": Body{"pool": strings.Repeat("a", 256)}})
			refused(Body{"size": 1, "metadata": Body{"pool": 1}})
			refused(Body{"size": 1, "imageRef": "none"})
			refused(Body{"size": 1, "imageRef": unknownComputeID})
			c.Member.Post(Volume, c.volumes(), Body{"volume": Body{"size": 1, "volume_type": "none"}}).AssertError(404, "itemNotFound")
			c.Member.Post(Volume, c.volumes(), Body{"volume": Body{"size": 1, "snapshot_id": unknownComputeID}}).AssertError(404, "itemNotFound")
			c.Member.Post(Volume, c.volumes(), Body{}).AssertError(400, "badRequest")
			assert.Empty(c, c.Member.Get(Volume, c.volumes()).List("volumes"))
		}),
		behaviour("a size may be sent as a text, and attributes that do not exist are passed over", func(c *Case) {
			assert.Equal(c, "2", c.postVolume(Body{"size": "2", "colour": "green"}).Text("size"))
		}),
		behaviour("a volume that is not there, or another project's, is NOT FOUND", func(c *Case) {
			for _, id := range []string{unknownComputeID, "none"} {
				c.Member.Get(Volume, c.volumes()+"/"+id).AssertError(404, "itemNotFound").AssertMessage("Volume %s could not be found.", id)
				c.Member.Delete(Volume, c.volumes()+"/"+id).AssertError(404, "itemNotFound")
			}
			volume := c.Volume(nil)
			theirs := "/v3/" + c.OtherMember.ProjectID + "/volumes/" + volume.ID()
			c.OtherMember.Get(Volume, theirs).AssertError(404, "itemNotFound")
			c.OtherMember.Delete(Volume, theirs).AssertError(404, "itemNotFound")
			c.OtherMember.Get(Volume, c.volumePath(volume)).AssertError(400, "badRequest")
		}),
		behaviour("a volume can be renamed, and its metadata be merged or replaced", func(c *Case) {
			path := c.volumePath(c.Volume(Body{"metadata": Body{"pool": "a"}}))
			assert.Equal(c, "two", c.Member.Put(Volume, path, Body{"volume": Body{"name": "two"}}).RequireStatus(200).Text("name"))
			c.Member.Put(Volume, path, Body{"volume": Body{"size": 2}}).AssertError(400, "badRequest")
			merged := c.Member.Post(Volume, path+"/metadata", Body{"metadata": Body{"role": "node"}}).RequireStatus(200)
			assert.Equal(c, Object{"pool": "a", "role": "node"}, merged)
			assert.Equal(c, Object{"role": "b"}, c.Member.Put(Volume, path+"/metadata", Body{"metadata": Body{"role": "b"}}).RequireStatus(200))
			c.Member.Get(Volume, path+"/metadata").RequireStatus(200)
			require.Equal(c, 200, c.Member.Delete(Volume, path+"/metadata/role").Status)
			c.Member.Delete(Volume, path+"/metadata/role").AssertError(404, "itemNotFound")
		}),
		behaviour("a volume can be extended and not be shrunk", func(c *Case) {
			volume := c.Volume(nil)
			extend := func(size int) *Response {
				return c.Member.Post(Volume, c.volumePath(volume)+"/action", Body{"os-extend": Body{"new_size": size}})
			}
			extend(1).AssertError(400, "badRequest")
			extend(0).AssertError(400, "badRequest")
			extend(3).RequireStatus(202)
			c.WaitUntil("the volume has grown", func() bool {
				got := c.Member.Get(Volume, c.volumePath(volume)).RequireStatus(200)
				return got.Text("size") == "3" && got.Text("status") == "available"
			})
			c.Member.Post(Volume, c.volumePath(volume)+"/action", Body{"dance": Body{}}).AssertError(400, "badRequest")
		}),
	}
}

func listsOfVolumes() []Behaviour {
	namesOf := func(response *Response) []string {
		names := []string{}
		for _, volume := range response.List("volumes") {
			names = append(names, volume.Text("name"))
		}
		return names
	}
	return []Behaviour{
		behaviour("volumes are found by name, status and metadata, and listed in brief or in detail", func(c *Case) {
			for _, name := range []string{"data-a", "data-b", "other"} {
				c.Volume(Body{"name": name, "metadata": Body{"pool": name}})
			}
			list := func(query string) []string {
				c.Helper()
				return namesOf(c.Member.Get(Volume, c.volumes()+"/detail?sort=name:asc"+query))
			}
			all := []string{"data-a", "data-b", "other"}
			assert.Equal(c, all, list(""))
			assert.Equal(c, []string{"data-a"}, list("&name=data-a"))
			assert.Empty(c, list("&name=data-"), "the whole name")
			assert.Equal(c, all, list("&status=available"))
			assert.Empty(c, list("&status=error"))
			assert.Equal(c, []string{"other"}, list("&metadata=%7B%22pool%22:%22other%22%7D"))
			assert.Equal(c, all, list("&colour=green"), "passed over")
			brief := c.Member.Get(Volume, c.volumes()+"?name=other").List("volumes")
			require.Len(c, brief, 1)
			assert.NotContains(c, brief[0], "status")
			page := c.Member.Get(Volume, c.volumes()+"?sort=name:asc&limit=2")
			assert.Equal(c, []string{"data-a", "data-b"}, namesOf(page))
			require.Len(c, page.List("volumes_links"), 1)
			marker := page.List("volumes")[1].ID()
			assert.Equal(c, []string{"other"}, namesOf(c.Member.Get(Volume, c.volumes()+"?sort=name:asc&limit=2&marker="+marker)))
			c.Member.Get(Volume, c.volumes()+"?marker="+unknownComputeID).AssertError(404, "itemNotFound")
			c.Member.Get(Volume, c.volumes()+"?limit=x").AssertError(400, "badRequest")
			c.Member.Get(Volume, c.volumes()+"?sort=colour").AssertError(400, "badRequest")
		}),
		behaviour("the newest volume comes first", func(c *Case) {
			for _, name := range []string{"older", "newer"} {
				c.Volume(Body{"name": name})
				c.waitForNextSecond()
			}
			assert.Equal(c, []string{"newer", "older"}, namesOf(c.Member.Get(Volume, c.volumes())))
		}),
	}
}

func attachedVolumes() []Behaviour {
	return []Behaviour{
		behaviour("an attached volume is in use by its server, and cannot be deleted or attached again", func(c *Case) {
			server := c.Server(Body{"networks": "none"}, microversionHeader("2.37")...)
			volume := c.Volume(nil)
			attachments := serverPath(server) + "/os-volume_attachments"
			attached := c.Member.Post(Compute, attachments, Body{"volumeAttachment": Body{"volumeId": volume.ID()}}).RequireStatus(200)
			assert.Equal(c, volume.ID(), attached.Text("volumeId"))
			c.WaitForVolume(volume, "in-use")
			got := c.Member.Get(Volume, c.volumePath(volume)).RequireStatus(200)
			require.Len(c, got.Objects("attachments"), 1)
			assert.Equal(c, server.ID(), got.Objects("attachments")[0].Text("server_id"))
			assert.Len(c, c.Member.Get(Compute, attachments).List("volumeAttachments"), 1)
			c.Member.Get(Compute, attachments+"/"+volume.ID()).RequireStatus(200)
			c.Member.Get(Compute, serverPath(server), microversionHeader("2.3")...).RequireStatus(200)
			c.Member.Delete(Volume, c.volumePath(volume)).AssertError(400, "badRequest")
			c.Member.Post(Compute, attachments, Body{"volumeAttachment": Body{"volumeId": volume.ID()}}).AssertError(400, "badRequest")
			c.Member.Post(Compute, attachments, Body{"volumeAttachment": Body{"volumeId": unknownComputeID}}).AssertError(404, "itemNotFound")
			c.Member.Post(Compute, attachments, Body{"volumeAttachment": Body{"volumeId": "none"}}).AssertError(400, "badRequest")
			require.Equal(c, 202, c.Member.Delete(Compute, attachments+"/"+volume.ID()).Status)
			c.WaitForVolume(volume, "available")
			c.Member.Get(Compute, attachments+"/"+volume.ID()).AssertError(404, "itemNotFound")
			c.Member.Delete(Compute, attachments+"/"+volume.ID()).AssertError(404, "itemNotFound")
		}),
		behaviour("a volume survives the server that it was attached to", func(c *Case) {
			server := c.Server(Body{"networks": "none"}, microversionHeader("2.37")...)
			volume := c.Volume(nil)
			c.WithoutRecording(func() {
				c.Member.Post(Compute, serverPath(server)+"/os-volume_attachments", Body{"volumeAttachment": Body{"volumeId": volume.ID()}}).RequireStatus(200)
			})
			c.WaitForVolume(volume, "in-use")
			c.Member.Delete(Compute, serverPath(server)).RequireStatus(204)
			c.WaitUntilGone(Compute, serverPath(server))
			c.WaitForVolume(volume, "available")
			c.Member.Get(Volume, c.volumePath(volume)).RequireStatus(200)
		}),
	}
}

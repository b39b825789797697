package conformance

import (
	"slices"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	flavorsPath      = "/v2.1/flavors"
	imagesPath       = "/v2/images"
	unknownComputeID = "11111111-2222-4333-8444-555555555555"
)

func flavorsAndImages() []Behaviour { return slices.Concat(flavors(), images(), imagesOfCompute()) }

func flavors() []Behaviour {
	return []Behaviour{
		behaviour("flavors are listed with all of their sizes by the detailed list only", func(c *Case) {
			c.Flavor(tinyFlavor)
			brief := c.Member.Get(Compute, flavorsPath).List("flavors")
			assert.NotContains(c, brief[0], "vcpus")
			assert.Len(c, c.Member.Get(Compute, flavorsPath+"/detail").List("flavors"), len(brief))
		}),
		behaviour("a flavor shows its extra specs since microversion 2.61, and no swap as a number since 2.75", func(c *Case) {
			path := flavorsPath + "/" + c.Flavor("m1.large")
			got := c.Member.Get(Compute, path).RequireStatus(200)
			assert.Equal(c, []string{"4", "8192", "80", ""}, []string{got.Text("vcpus"), got.Text("ram"), got.Text("disk"), got.Text("swap")})
			c.Member.Get(Compute, path, microversionHeader("2.55")...).RequireStatus(200)
			assert.NotContains(c, c.Member.Get(Compute, path, microversionHeader("2.60")...).RequireStatus(200), "extra_specs")
			assert.Contains(c, c.Member.Get(Compute, path, microversionHeader("2.61")...).RequireStatus(200), "extra_specs")
			assert.Equal(c, "0", c.Member.Get(Compute, path, microversionHeader("2.75")...).RequireStatus(200).Text("swap"))
			c.Member.Get(Compute, path+"/os-extra_specs").RequireStatus(200)
		}),
		behaviour("flavors are not filtered by name, but by their least sizes", func(c *Case) {
			c.Flavor(tinyFlavor)
			all := len(c.Member.Get(Compute, flavorsPath).List("flavors"))
			assert.Len(c, c.Member.Get(Compute, flavorsPath+"?name="+tinyFlavor).List("flavors"), all)
			for _, flavor := range c.Member.Get(Compute, flavorsPath+"/detail?minRam=4096&minDisk=40").List("flavors") {
				assert.Contains(c, []string{"m1.medium", "m1.large", "m1.xlarge"}, flavor.Text("name"))
			}
			c.Member.Get(Compute, flavorsPath+"?minRam=much").AssertError(400, "badRequest")
			c.Member.Get(Compute, flavorsPath+"?name="+tinyFlavor, microversionHeader("2.75")...).AssertError(400, "badRequest")
		}),
		behaviour("flavors come in pages, in the order that is asked for", func(c *Case) {
			c.Flavor(tinyFlavor)
			page := c.Member.Get(Compute, flavorsPath+"?sort_key=memory_mb&sort_dir=asc&limit=2")
			first := page.List("flavors")
			require.Len(c, first, 2)
			assert.Equal(c, tinyFlavor, first[0].Text("name"))
			assert.Len(c, page.List("flavors_links"), 1)
			rest := c.Member.Get(Compute, flavorsPath+"?sort_key=memory_mb&sort_dir=asc&limit=100&marker="+first[1].ID()).List("flavors")
			assert.NotContains(c, rest, first[1])
			assert.Equal(c, "m1.small", first[1].Text("name"))
			c.Member.Get(Compute, flavorsPath+"?marker="+unknownComputeID).AssertError(400, "badRequest").AssertMessage("marker [%s] not found", unknownComputeID)
			c.Member.Get(Compute, flavorsPath+"?limit=-1").AssertError(400, "badRequest")
			c.Member.Get(Compute, flavorsPath+"?sort_key=colour").AssertError(400, "badRequest")
		}),
		behaviour("a flavor is known by its ID and not by its name", func(c *Case) {
			for _, id := range []string{unknownComputeID, tinyFlavor} {
				c.Member.Get(Compute, flavorsPath+"/"+id).AssertError(404, "itemNotFound").AssertMessage("Flavor %s could not be found.", id)
			}
			c.Member.Get(Compute, flavorsPath+"/"+unknownComputeID+"/os-extra_specs").AssertError(404, "itemNotFound")
		}),
		behaviour("a flavor of an operator is there for everybody until it is deleted", func(c *Case) {
			attributes := Body{"name": "conformance", "vcpus": 3, "ram": 128, "disk": 0}
			created := c.Operator.Post(Compute, flavorsPath, Body{"flavor": attributes}).RequireStatus(200)
			path := flavorsPath + "/" + created.ID()
			c.DeleteAtCleanup(c.Operator, Compute, path)
			c.Operator.Post(Compute, flavorsPath, Body{"flavor": attributes}).AssertError(409, "conflictingRequest")
			assert.Equal(c, "3", c.Member.Get(Compute, path).RequireStatus(200).Text("vcpus"))
			assert.Equal(c, "conformance", c.Member.Get(Compute, flavorsPath+"?sort_key=memory_mb&limit=1").List("flavors")[0].Text("name"))
			c.Operator.Delete(Compute, path).RequireStatus(202)
			c.Member.Get(Compute, path).AssertError(404, "itemNotFound")
			c.Operator.Delete(Compute, path).AssertError(404, "itemNotFound")
		}),
		behaviour("a plain member makes and deletes no flavors", func(c *Case) {
			c.Member.Post(Compute, flavorsPath, Body{"flavor": Body{"name": "one", "vcpus": 1, "ram": 1, "disk": 1}}).AssertError(403, "forbidden")
			c.Member.Delete(Compute, flavorsPath+"/"+c.Flavor(tinyFlavor)).AssertError(403, "forbidden")
		}),
	}
}

func images() []Behaviour {
	names := func(response *Response) []string {
		names := []string{}
		for _, image := range response.List("images") {
			names = append(names, image.Text("name"))
		}
		return names
	}
	return []Behaviour{
		behaviour("an image is public, active, and shows its properties among its attributes", func(c *Case) {
			image := c.Member.Get(Image, imagesPath+"/"+c.Image(tinyImage)).RequireStatus(200)
			assert.Equal(c, "active", image.Text("status"))
			assert.Equal(c, "public", image.Text("visibility"))
			assert.Equal(c, "x86_64", image.Text("architecture"))
		}),
		behaviour("images are found by their exact name", func(c *Case) {
			c.Image(tinyImage)
			assert.Len(c, c.Member.Get(Image, imagesPath+"?name="+tinyImage).List("images"), 1)
			assert.Empty(c, c.Member.Get(Image, imagesPath+"?name=tin").List("images"))
			assert.Equal(c, []string{"tiny"}, names(c.Member.Get(Image, imagesPath+"?name=TINY")), "the database sees no capitals")
			assert.ElementsMatch(c, []string{"tiny", "gardenlinux"}, names(c.Member.Get(Image, imagesPath+"?name=in:tiny,gardenlinux,none")))
			assert.Equal(c, []string{"tiny"}, names(c.Member.Get(Image, imagesPath+"?name=in:%22tiny%22")))
		}),
		behaviour("images are found by any of their properties", func(c *Case) {
			c.Image(tinyImage)
			assert.Equal(c, []string{"gardenlinux-arm64"}, names(c.Member.Get(Image, imagesPath+"?architecture=aarch64")))
			assert.Len(c, c.Member.Get(Image, imagesPath+"?name=tiny&status=active&visibility=public").List("images"), 1)
			assert.Empty(c, c.Member.Get(Image, imagesPath+"?name=tiny&status=queued").List("images"))
			assert.Empty(c, c.Member.Get(Image, imagesPath+"?name=tiny&visibility=private").List("images"))
			assert.Empty(c, c.Member.Get(Image, imagesPath+"?name=tiny&colour=green").List("images"))
			assert.Empty(c, c.Member.Get(Image, imagesPath+"?name=tiny&tag=green").List("images"))
			assert.Len(c, c.Member.Get(Image, imagesPath+"?id=in:"+c.Image(tinyImage)).List("images"), 1)
			c.Member.Get(Image, imagesPath+"?visibility=green").AssertError(400, "")
		}),
		behaviour("images come in pages that lead to the next", func(c *Case) {
			c.Image(tinyImage)
			page := c.Member.Get(Image, imagesPath+"?sort=name:asc&limit=2")
			assert.Equal(c, []string{"gardenlinux", "gardenlinux-arm64"}, names(page))
			next, _ := page.Body["next"].(string)
			require.NotEmpty(c, next)
			assert.Equal(c, []string{"tiny"}, names(c.Member.Get(Image, next)))
			assert.Equal(c, []string{"tiny", "gardenlinux-arm64", "gardenlinux"}, names(c.Member.Get(Image, imagesPath+"?sort_key=name&sort_dir=desc")))
			c.Member.Get(Image, imagesPath+"?marker="+unknownComputeID).AssertError(400, "")
			c.Member.Get(Image, imagesPath+"?limit=some").AssertError(400, "")
			c.Member.Get(Image, imagesPath+"?sort_key=colour").AssertError(400, "")
		}),
		behaviour("an image is known by its ID and not by its name", func(c *Case) {
			for _, id := range []string{unknownComputeID, tinyImage} {
				c.Member.Get(Image, imagesPath+"/"+id).AssertError(404, "").AssertMessage("No image found with ID %s", id)
			}
		}),
		behaviour("a plain member neither makes public images nor deletes those of operators", func(c *Case) {
			c.Member.Post(Image, imagesPath, Body{"name": "one", "visibility": "public"}).AssertError(403, "")
			c.Member.Delete(Image, imagesPath+"/"+c.Image(tinyImage)).AssertError(403, "")
			c.Member.Delete(Image, imagesPath+"/"+unknownComputeID).AssertError(404, "")
		}),
	}
}

// imagesOfCompute is about Nova's own list of images, which upstream's machine driver asks for the ID of a name.
func imagesOfCompute() []Behaviour {
	const path = "/v2.1/images"
	return []Behaviour{
		behaviour("Nova finds images by their exact name, too", func(c *Case) {
			id := c.Image(tinyImage)
			for _, list := range []string{path, path + "/detail"} {
				found := c.Member.Get(Compute, list+"?name="+tinyImage).List("images")
				require.Len(c, found, 1)
				assert.Equal(c, id, found[0].ID())
				assert.Empty(c, c.Member.Get(Compute, list+"?name=tin").List("images"))
				assert.Empty(c, c.Member.Get(Compute, list+"?name=none").List("images"))
			}
			assert.NotContains(c, c.Member.Get(Compute, path+"?name="+tinyImage).List("images")[0], "status")
			assert.Equal(c, "ACTIVE", c.Member.Get(Compute, path+"/detail?name="+tinyImage).List("images")[0].Text("status"))
			assert.Len(c, c.Member.Get(Compute, path+"?name="+tinyImage+"&status=ACTIVE").List("images"), 1)
			assert.Empty(c, c.Member.Get(Compute, path+"?name="+tinyImage+"&status=SAVING").List("images"))
		}),
		behaviour("Nova lists images in pages", func(c *Case) {
			c.Image(tinyImage)
			all := c.Member.Get(Compute, path).List("images")
			require.Greater(c, len(all), 1)
			// Of those made in the same second, which one is the first differs from cloud to cloud.
			page := c.Member.Get(Compute, path+"?limit=1&name="+tinyImage)
			require.Len(c, page.List("images"), 1)
			require.Len(c, page.List("images_links"), 1)
			assert.Empty(c, c.Member.Get(Compute, path+"?name="+tinyImage+"&marker="+page.List("images")[0].ID()).List("images"))
			c.Member.Get(Compute, path+"?marker="+unknownComputeID).AssertError(400, "badRequest")
			c.Member.Get(Compute, path+"?limit=some").AssertError(400, "badRequest")
		}),
		behaviour("Nova knows an image by its ID and not by its name", func(c *Case) {
			image := c.Member.Get(Compute, path+"/"+c.Image(tinyImage)).RequireStatus(200)
			assert.Equal(c, []string{tinyImage, "ACTIVE", "100"}, []string{image.Text("name"), image.Text("status"), image.Text("progress")})
			for _, id := range []string{unknownComputeID, tinyImage} {
				c.Member.Get(Compute, path+"/"+id).AssertError(404, "itemNotFound").AssertMessage("Image not found.")
			}
		}),
		behaviour("Nova has no images since microversion 2.36", func(c *Case) {
			id := c.Image(tinyImage)
			assert.Len(c, c.Member.Get(Compute, path+"?name="+tinyImage, microversionHeader("2.35")...).List("images"), 1)
			for _, gone := range []string{path + "?name=" + tinyImage, path + "/detail", path + "/" + id} {
				assert.Equal(c, 404, c.Member.Get(Compute, gone, microversionHeader("2.36")...).Status)
			}
		}),
	}
}

package conformance

import (
	"net/url"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	keyPairsPath = "/v2.1/os-keypairs"

	// A public key, and its fingerprint as ssh-keygen -l -E md5 gives it.
	onePublicKey    = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMmW0oDrR2bVIrOeGFnF0Cv2bIiAOlp0i9q5Ov6Vn7fX someone"
	onesFingerprint = "e7:4b:9e:74:b6:0b:a5:42:75:1f:2a:3d:2f:35:ea:c3"
	// fingerprintOfNothing is the MD5 of an empty text.
	fingerprintOfNothing = "d4:1d:8c:d9:8f:00:b2:04:e9:80:09:98:ec:f8:42:7e"
)

func keyPairPath(name string) string { return keyPairsPath + "/" + url.PathEscape(name) }

func keyPairOf(name string) Body {
	return Body{"keypair": Body{"name": name, "public_key": onePublicKey}}
}

// importKeyPair imports a key under a name and removes it at the end. It is written down.
func (c *Case) importKeyPair(name string, headers ...string) *Response {
	c.Helper()
	c.DeleteAtCleanup(c.Member, Compute, keyPairPath(name))
	return c.Member.Post(Compute, keyPairsPath, keyPairOf(name), headers...)
}

func keyPairs() []Behaviour {
	return slices.Concat(importedKeyPairs(), namesOfKeyPairs(), listsOfKeyPairs())
}

func importedKeyPairs() []Behaviour {
	return []Behaviour{
		behaviour("an imported key pair shows the key as it was sent, and its MD5 fingerprint", func(c *Case) {
			created := c.importKeyPair("shoot--garden--one").RequireStatus(200)
			assert.Equal(c, onePublicKey, created.Text("public_key"))
			assert.Equal(c, onesFingerprint, created.Text("fingerprint"))
			assert.Equal(c, c.Member.UserID, created.Text("user_id"))
			got := c.Member.Get(Compute, keyPairPath("shoot--garden--one")).RequireStatus(200)
			assert.Equal(c, onePublicKey, got.Text("public_key"))
			assert.Equal(c, onesFingerprint, got.Text("fingerprint"))
		}),
		behaviour("key pairs have a type since microversion 2.2, and are CREATED from then on", func(c *Case) {
			created := c.importKeyPair("one", microversionHeader("2.2")...).RequireStatus(201)
			assert.Equal(c, "ssh", created.Text("type"))
			c.Member.Get(Compute, keyPairPath("one"), microversionHeader("2.2")...).RequireStatus(200)
			c.Member.Get(Compute, keyPairsPath, microversionHeader("2.2")...).RequireStatus(200)
			c.Member.Delete(Compute, keyPairPath("one"), microversionHeader("2.2")...).RequireStatus(204)
		}),
		behaviour("without a public key Nova makes an RSA key and shows the private part once", func(c *Case) {
			c.DeleteAtCleanup(c.Member, Compute, keyPairPath("one"))
			created := c.Member.Post(Compute, keyPairsPath, Body{"keypair": Body{"name": "one"}}).RequireStatus(200)
			assert.Contains(c, created.Text("private_key"), "-----BEGIN RSA PRIVATE KEY-----\n")
			assert.True(c, strings.HasPrefix(created.Text("public_key"), "ssh-rsa "), created.Text("public_key"))
			assert.True(c, strings.HasSuffix(created.Text("public_key"), " Generated-by-Nova"), created.Text("public_key"))
			got := c.Member.Get(Compute, keyPairPath("one")).RequireStatus(200)
			assert.NotContains(c, got, "private_key")
			assert.Equal(c, created.Text("public_key"), got.Text("public_key"))
		}),
		behaviour("since microversion 2.92 a key pair needs a public key", func(c *Case) {
			c.DeleteAtCleanup(c.Member, Compute, keyPairPath("one"))
			c.Member.Post(Compute, keyPairsPath, Body{"keypair": Body{"name": "one"}}, microversionHeader("2.92")...).AssertError(400, "badRequest")
			c.Member.Post(Compute, keyPairsPath, Body{"keypair": Body{"name": "one"}}, microversionHeader("2.91")...).RequireStatus(201)
			c.importKeyPair("two", microversionHeader("2.92")...).RequireStatus(201)
		}),
		behaviour("a name of a key pair is taken once", func(c *Case) {
			c.importKeyPair("one").RequireStatus(200)
			c.Member.Post(Compute, keyPairsPath, keyPairOf("one")).AssertError(409, "conflictingRequest").AssertMessage("Key pair 'one' already exists.")
		}),
		behaviour("capitals make no difference to the name of a key pair, since the database sees none", func(c *Case) {
			c.importKeyPair("one").RequireStatus(200)
			c.Member.Post(Compute, keyPairsPath, keyPairOf("One")).AssertError(409, "conflictingRequest").AssertMessage("Key pair 'One' already exists.")
			assert.Equal(c, "one", c.Member.Get(Compute, keyPairPath("ONE")).RequireStatus(200).Text("name"))
			c.Member.Delete(Compute, keyPairPath("oNe")).RequireStatus(202)
			c.Member.Get(Compute, keyPairPath("one")).AssertError(404, "itemNotFound")
		}),
		behaviour("what is no public key is refused as such", func(c *Case) {
			_, encoded, _ := strings.Cut(onePublicKey, " ")
			for _, key := range []string{
				"", "rubbish", "ssh-ed25519 rubbish", "ssh-ed25519", encoded, "ssh-rsa " + encoded,
				"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
			} {
				c.Member.Post(Compute, keyPairsPath, Body{"keypair": Body{"name": "one", "public_key": key}}).
					AssertError(400, "badRequest").AssertMessage("Keypair data is invalid: failed to generate fingerprint")
			}
			c.Member.Post(Compute, keyPairsPath, Body{"keypair": Body{"name": "one", "public_key": 1}}).AssertError(400, "badRequest")
			c.Member.Get(Compute, keyPairPath("one")).AssertError(404, "itemNotFound")
		}),
		behaviour("of a public key with two spaces in front Nova takes the fingerprint of nothing", func(c *Case) {
			c.DeleteAtCleanup(c.Member, Compute, keyPairPath("one"))
			key := strings.Replace(onePublicKey, " ", "  ", 1)
			created := c.Member.Post(Compute, keyPairsPath, Body{"keypair": Body{"name": "one", "public_key": key}}).RequireStatus(200)
			assert.Equal(c, fingerprintOfNothing, created.Text("fingerprint"))
		}),
		behaviour("a public key may end in a newline and lack its comment, and stays as it was sent", func(c *Case) {
			for name, key := range map[string]string{"newline": onePublicKey + "\n", "bare": strings.TrimSuffix(onePublicKey, " someone")} {
				c.WithoutRecording(func() {
					c.DeleteAtCleanup(c.Member, Compute, keyPairPath(name))
					created := c.Member.Post(Compute, keyPairsPath, Body{"keypair": Body{"name": name, "public_key": key}}).RequireStatus(200)
					assert.Equal(c, key, created.Text("public_key"))
					assert.Equal(c, onesFingerprint, created.Text("fingerprint"))
				})
			}
			c.Member.Get(Compute, keyPairPath("newline")).RequireStatus(200)
			c.Member.Get(Compute, keyPairPath("bare")).RequireStatus(200)
		}),
	}
}

func namesOfKeyPairs() []Behaviour {
	return []Behaviour{
		behaviour("names of key pairs are of letters, digits, spaces, dashes and underscores, and others since microversion 2.92", func(c *Case) {
			for _, name := range []string{"", " one", "one ", "one/two", "one.two", "one@two", "one:two", "öne", strings.Repeat("a", 256)} {
				c.Member.Post(Compute, keyPairsPath, keyPairOf(name)).AssertError(400, "badRequest")
			}
			c.importKeyPair("one.two@three", microversionHeader("2.92")...).RequireStatus(201)
			c.Member.Get(Compute, keyPairPath("one.two@three")).RequireStatus(200)
			for _, name := range []string{"one/two", "one:two", " one"} {
				c.Member.Post(Compute, keyPairsPath, keyPairOf(name), microversionHeader("2.92")...).AssertError(400, "badRequest")
			}
		}),
		behaviour("a name of a key pair may be 255 characters long and have spaces", func(c *Case) {
			for _, name := range []string{strings.Repeat("a", 255), "one two_three-4"} {
				c.importKeyPair(name).RequireStatus(200)
				got := c.Member.Get(Compute, keyPairPath(name)).RequireStatus(200)
				assert.Equal(c, name, got.Text("name"))
				c.Member.Delete(Compute, keyPairPath(name)).RequireStatus(202)
			}
		}),
		behaviour("a key pair needs a name and nothing that does not exist", func(c *Case) {
			c.Member.Post(Compute, keyPairsPath, Body{"keypair": Body{"public_key": onePublicKey}}).AssertError(400, "badRequest")
			c.Member.Post(Compute, keyPairsPath, Body{}).AssertError(400, "badRequest")
			c.Member.Post(Compute, keyPairsPath, Body{"keypair": Body{"name": "one", "public_key": onePublicKey, "type": "ssh"}}).AssertError(400, "badRequest")
			c.Member.Post(Compute, keyPairsPath, Body{"keypair": Body{"name": "one", "public_key": onePublicKey, "type": "rsa"}}, microversionHeader("2.2")...).
				AssertError(400, "badRequest")
		}),
		behaviour("a key pair that is not there is NOT FOUND by its name and its user", func(c *Case) {
			c.Member.Get(Compute, keyPairPath("none")).AssertError(404, "itemNotFound").AssertMessage("Keypair none not found for user %s", c.Member.UserID)
			c.Member.Delete(Compute, keyPairPath("none")).AssertError(404, "itemNotFound")
			c.importKeyPair("one").RequireStatus(200)
			c.Member.Delete(Compute, keyPairPath("one")).RequireStatus(202)
			c.Member.Delete(Compute, keyPairPath("one")).AssertError(404, "itemNotFound")
		}),
	}
}

func listsOfKeyPairs() []Behaviour {
	return []Behaviour{
		behaviour("a list of key pairs wraps each, without its user", func(c *Case) {
			c.Member.Get(Compute, keyPairsPath).RequireStatus(200)
			c.importKeyPair("one").RequireStatus(200)
			c.importKeyPair("two").RequireStatus(200)
			assert.Len(c, c.Member.Get(Compute, keyPairsPath).List("keypairs"), 2)
		}),
		behaviour("key pairs come in pages since microversion 2.35, sorted by name", func(c *Case) {
			for _, name := range []string{"c", "a", "b"} {
				c.WithoutRecording(func() { c.importKeyPair(name).RequireStatus(200) })
			}
			assert.Len(c, c.Member.Get(Compute, keyPairsPath+"?limit=1").List("keypairs"), 3, "before 2.35")
			page := c.Member.Get(Compute, keyPairsPath+"?limit=2", microversionHeader("2.35")...)
			require.Len(c, page.List("keypairs"), 2)
			assert.Equal(c, "a", page.List("keypairs")[0].Text("keypair.name"))
			assert.Equal(c, "b", page.List("keypairs")[1].Text("keypair.name"))
			assert.Len(c, page.List("keypairs_links"), 1)
			assert.Len(c, c.Member.Get(Compute, keyPairsPath+"?limit=2&marker=b", microversionHeader("2.35")...).List("keypairs"), 1)
			c.Member.Get(Compute, keyPairsPath+"?marker=z", microversionHeader("2.35")...).AssertError(400, "badRequest")
			c.Member.Get(Compute, keyPairsPath+"?name=a", microversionHeader("2.75")...).AssertError(400, "badRequest")
		}),
		behaviour("a key pair is its user's and not the project's", func(c *Case) {
			colleague := c.OtherUser()
			c.importKeyPair("one").RequireStatus(200)
			colleague.Get(Compute, keyPairPath("one")).AssertError(404, "itemNotFound")
			assert.Empty(c, colleague.Get(Compute, keyPairsPath).List("keypairs"))
			colleague.Delete(Compute, keyPairPath("one")).AssertError(404, "itemNotFound")
			c.DeleteAtCleanup(colleague, Compute, keyPairPath("one"))
			colleague.Post(Compute, keyPairsPath, keyPairOf("one")).RequireStatus(200)
			assert.Len(c, c.Member.Get(Compute, keyPairsPath).List("keypairs"), 1)
		}),
		behaviour("another user's key pairs are for operators, by the user's ID since microversion 2.10", func(c *Case) {
			c.importKeyPair("one").RequireStatus(200)
			of := "?user_id=" + c.Member.UserID
			c.OtherMember.Get(Compute, keyPairPath("one")+of).AssertError(404, "itemNotFound")
			c.OtherMember.Get(Compute, keyPairPath("one")+of, microversionHeader("2.10")...).AssertError(403, "forbidden")
			c.OtherMember.Get(Compute, keyPairsPath+of, microversionHeader("2.10")...).AssertError(403, "forbidden")
			c.Operator.Get(Compute, keyPairPath("one")+of, microversionHeader("2.10")...).RequireStatus(200)
			assert.Len(c, c.Operator.Get(Compute, keyPairsPath+of, microversionHeader("2.10")...).List("keypairs"), 1)
		}),
	}
}

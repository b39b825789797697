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
func (c *Case) importKeyPair(name string, headers ...string) *Answer {
	c.Helper()
	c.Remove(c.Member, Compute, keyPairPath(name))
	return c.Member.Post(Compute, keyPairsPath, keyPairOf(name), headers...)
}

func keyPairs() []Behaviour {
	return slices.Concat(importedKeyPairs(), namesOfKeyPairs(), listsOfKeyPairs())
}

func importedKeyPairs() []Behaviour {
	return []Behaviour{
		behaviour("an imported key pair shows the key as it was sent, and its MD5 fingerprint", func(c *Case) {
			made := c.importKeyPair("shoot--garden--one").Succeeds(200)
			assert.Equal(c, onePublicKey, made.Text("public_key"))
			assert.Equal(c, onesFingerprint, made.Text("fingerprint"))
			assert.Equal(c, c.Member.UserID, made.Text("user_id"))
			got := c.Member.Get(Compute, keyPairPath("shoot--garden--one")).Succeeds(200)
			assert.Equal(c, onePublicKey, got.Text("public_key"))
			assert.Equal(c, onesFingerprint, got.Text("fingerprint"))
		}),
		behaviour("key pairs have a type since microversion 2.2, and are CREATED from then on", func(c *Case) {
			made := c.importKeyPair("one", at("2.2")...).Succeeds(201)
			assert.Equal(c, "ssh", made.Text("type"))
			c.Member.Get(Compute, keyPairPath("one"), at("2.2")...).Succeeds(200)
			c.Member.Get(Compute, keyPairsPath, at("2.2")...).Succeeds(200)
			c.Member.Delete(Compute, keyPairPath("one"), at("2.2")...).Succeeds(204)
		}),
		behaviour("without a public key Nova makes an RSA key and shows the private part once", func(c *Case) {
			c.Remove(c.Member, Compute, keyPairPath("one"))
			made := c.Member.Post(Compute, keyPairsPath, Body{"keypair": Body{"name": "one"}}).Succeeds(200)
			assert.Contains(c, made.Text("private_key"), "-----BEGIN RSA PRIVATE KEY-----\n")
			assert.True(c, strings.HasPrefix(made.Text("public_key"), "ssh-rsa "), made.Text("public_key"))
			assert.True(c, strings.HasSuffix(made.Text("public_key"), " Generated-by-Nova"), made.Text("public_key"))
			got := c.Member.Get(Compute, keyPairPath("one")).Succeeds(200)
			assert.NotContains(c, got, "private_key")
			assert.Equal(c, made.Text("public_key"), got.Text("public_key"))
		}),
		behaviour("since microversion 2.92 a key pair needs a public key", func(c *Case) {
			c.Remove(c.Member, Compute, keyPairPath("one"))
			c.Member.Post(Compute, keyPairsPath, Body{"keypair": Body{"name": "one"}}, at("2.92")...).Refused(400, "badRequest")
			c.Member.Post(Compute, keyPairsPath, Body{"keypair": Body{"name": "one"}}, at("2.91")...).Succeeds(201)
			c.importKeyPair("two", at("2.92")...).Succeeds(201)
		}),
		behaviour("a name of a key pair is taken once", func(c *Case) {
			c.importKeyPair("one").Succeeds(200)
			c.Member.Post(Compute, keyPairsPath, keyPairOf("one")).Refused(409, "conflictingRequest").Saying("Key pair 'one' already exists.")
		}),
		behaviour("capitals make no difference to the name of a key pair, since the database sees none", func(c *Case) {
			c.importKeyPair("one").Succeeds(200)
			c.Member.Post(Compute, keyPairsPath, keyPairOf("One")).Refused(409, "conflictingRequest").Saying("Key pair 'One' already exists.")
			assert.Equal(c, "one", c.Member.Get(Compute, keyPairPath("ONE")).Succeeds(200).Text("name"))
			c.Member.Delete(Compute, keyPairPath("oNe")).Succeeds(202)
			c.Member.Get(Compute, keyPairPath("one")).Refused(404, "itemNotFound")
		}),
		behaviour("what is no public key is refused as such", func(c *Case) {
			_, encoded, _ := strings.Cut(onePublicKey, " ")
			for _, key := range []string{
				"", "rubbish", "ssh-ed25519 rubbish", "ssh-ed25519", encoded, "ssh-rsa " + encoded,
				"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
			} {
				c.Member.Post(Compute, keyPairsPath, Body{"keypair": Body{"name": "one", "public_key": key}}).
					Refused(400, "badRequest").Saying("Keypair data is invalid: failed to generate fingerprint")
			}
			c.Member.Post(Compute, keyPairsPath, Body{"keypair": Body{"name": "one", "public_key": 1}}).Refused(400, "badRequest")
			c.Member.Get(Compute, keyPairPath("one")).Refused(404, "itemNotFound")
		}),
		behaviour("of a public key with two spaces in front Nova takes the fingerprint of nothing", func(c *Case) {
			c.Remove(c.Member, Compute, keyPairPath("one"))
			key := strings.Replace(onePublicKey, " ", "  ", 1)
			made := c.Member.Post(Compute, keyPairsPath, Body{"keypair": Body{"name": "one", "public_key": key}}).Succeeds(200)
			assert.Equal(c, fingerprintOfNothing, made.Text("fingerprint"))
		}),
		behaviour("a public key may end in a newline and lack its comment, and stays as it was sent", func(c *Case) {
			for name, key := range map[string]string{"newline": onePublicKey + "\n", "bare": strings.TrimSuffix(onePublicKey, " someone")} {
				c.Quietly(func() {
					c.Remove(c.Member, Compute, keyPairPath(name))
					made := c.Member.Post(Compute, keyPairsPath, Body{"keypair": Body{"name": name, "public_key": key}}).Succeeds(200)
					assert.Equal(c, key, made.Text("public_key"))
					assert.Equal(c, onesFingerprint, made.Text("fingerprint"))
				})
			}
			c.Member.Get(Compute, keyPairPath("newline")).Succeeds(200)
			c.Member.Get(Compute, keyPairPath("bare")).Succeeds(200)
		}),
	}
}

func namesOfKeyPairs() []Behaviour {
	return []Behaviour{
		behaviour("names of key pairs are of letters, digits, spaces, dashes and underscores, and others since microversion 2.92", func(c *Case) {
			for _, name := range []string{"", " one", "one ", "one/two", "one.two", "one@two", "one:two", "öne", strings.Repeat("a", 256)} {
				c.Member.Post(Compute, keyPairsPath, keyPairOf(name)).Refused(400, "badRequest")
			}
			c.importKeyPair("one.two@three", at("2.92")...).Succeeds(201)
			c.Member.Get(Compute, keyPairPath("one.two@three")).Succeeds(200)
			for _, name := range []string{"one/two", "one:two", " one"} {
				c.Member.Post(Compute, keyPairsPath, keyPairOf(name), at("2.92")...).Refused(400, "badRequest")
			}
		}),
		behaviour("a name of a key pair may be 255 characters long and have spaces", func(c *Case) {
			for _, name := range []string{strings.Repeat("a", 255), "one two_three-4"} {
				c.importKeyPair(name).Succeeds(200)
				got := c.Member.Get(Compute, keyPairPath(name)).Succeeds(200)
				assert.Equal(c, name, got.Text("name"))
				c.Member.Delete(Compute, keyPairPath(name)).Succeeds(202)
			}
		}),
		behaviour("a key pair needs a name and nothing that does not exist", func(c *Case) {
			c.Member.Post(Compute, keyPairsPath, Body{"keypair": Body{"public_key": onePublicKey}}).Refused(400, "badRequest")
			c.Member.Post(Compute, keyPairsPath, Body{}).Refused(400, "badRequest")
			c.Member.Post(Compute, keyPairsPath, Body{"keypair": Body{"name": "one", "public_key": onePublicKey, "type": "ssh"}}).Refused(400, "badRequest")
			c.Member.Post(Compute, keyPairsPath, Body{"keypair": Body{"name": "one", "public_key": onePublicKey, "type": "rsa"}}, at("2.2")...).
				Refused(400, "badRequest")
		}),
		behaviour("a key pair that is not there is NOT FOUND by its name and its user", func(c *Case) {
			c.Member.Get(Compute, keyPairPath("none")).Refused(404, "itemNotFound").Saying("Keypair none not found for user %s", c.Member.UserID)
			c.Member.Delete(Compute, keyPairPath("none")).Refused(404, "itemNotFound")
			c.importKeyPair("one").Succeeds(200)
			c.Member.Delete(Compute, keyPairPath("one")).Succeeds(202)
			c.Member.Delete(Compute, keyPairPath("one")).Refused(404, "itemNotFound")
		}),
	}
}

func listsOfKeyPairs() []Behaviour {
	return []Behaviour{
		behaviour("a list of key pairs wraps each, without its user", func(c *Case) {
			c.Member.Get(Compute, keyPairsPath).Succeeds(200)
			c.importKeyPair("one").Succeeds(200)
			c.importKeyPair("two").Succeeds(200)
			assert.Len(c, c.Member.Get(Compute, keyPairsPath).List("keypairs"), 2)
		}),
		behaviour("key pairs come in pages since microversion 2.35, sorted by name", func(c *Case) {
			for _, name := range []string{"c", "a", "b"} {
				c.Quietly(func() { c.importKeyPair(name).Succeeds(200) })
			}
			assert.Len(c, c.Member.Get(Compute, keyPairsPath+"?limit=1").List("keypairs"), 3, "before 2.35")
			page := c.Member.Get(Compute, keyPairsPath+"?limit=2", at("2.35")...)
			require.Len(c, page.List("keypairs"), 2)
			assert.Equal(c, "a", page.List("keypairs")[0].Text("keypair.name"))
			assert.Equal(c, "b", page.List("keypairs")[1].Text("keypair.name"))
			assert.Len(c, page.List("keypairs_links"), 1)
			assert.Len(c, c.Member.Get(Compute, keyPairsPath+"?limit=2&marker=b", at("2.35")...).List("keypairs"), 1)
			c.Member.Get(Compute, keyPairsPath+"?marker=z", at("2.35")...).Refused(400, "badRequest")
			c.Member.Get(Compute, keyPairsPath+"?name=a", at("2.75")...).Refused(400, "badRequest")
		}),
		behaviour("a key pair is its user's and not the project's", func(c *Case) {
			colleague := c.Colleague()
			c.importKeyPair("one").Succeeds(200)
			colleague.Get(Compute, keyPairPath("one")).Refused(404, "itemNotFound")
			assert.Empty(c, colleague.Get(Compute, keyPairsPath).List("keypairs"))
			colleague.Delete(Compute, keyPairPath("one")).Refused(404, "itemNotFound")
			c.Remove(colleague, Compute, keyPairPath("one"))
			colleague.Post(Compute, keyPairsPath, keyPairOf("one")).Succeeds(200)
			assert.Len(c, c.Member.Get(Compute, keyPairsPath).List("keypairs"), 1)
		}),
		behaviour("another user's key pairs are for operators, by the user's ID since microversion 2.10", func(c *Case) {
			c.importKeyPair("one").Succeeds(200)
			of := "?user_id=" + c.Member.UserID
			c.Stranger.Get(Compute, keyPairPath("one")+of).Refused(404, "itemNotFound")
			c.Stranger.Get(Compute, keyPairPath("one")+of, at("2.10")...).Refused(403, "forbidden")
			c.Stranger.Get(Compute, keyPairsPath+of, at("2.10")...).Refused(403, "forbidden")
			c.Operator.Get(Compute, keyPairPath("one")+of, at("2.10")...).Succeeds(200)
			assert.Len(c, c.Operator.Get(Compute, keyPairsPath+of, at("2.10")...).List("keypairs"), 1)
		}),
	}
}

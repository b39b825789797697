package fake

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/crypto/ssh"
)

// KeyPair is a Nova key pair. It belongs to a user, not to a project.
type KeyPair struct {
	Name        string `json:"name"`
	PublicKey   string `json:"public_key"`
	Fingerprint string `json:"fingerprint"`
	Type        string `json:"type"`
	UserID      string `json:"user_id"`
	CreatedAt   string `json:"created_at"`
}

func (c *Cloud) registerKeyPairs(e endpoint) {
	c.novaRoute(e, "GET /os-keypairs", func(q *request, micro int) (reply, error) {
		out := []any{}
		for _, k := range c.nova.keyPairs.rows {
			if k.UserID == q.userID {
				out = append(out, map[string]any{"keypair": k.brief(micro)})
			}
		}
		return ok(map[string]any{"keypairs": out})
	})
	c.novaRoute(e, "POST /os-keypairs", c.createKeyPair)
	c.novaRoute(e, "GET /os-keypairs/{id}", func(q *request, micro int) (reply, error) {
		k, err := c.findKeyPair(q)
		if err != nil {
			return reply{}, err
		}
		view := k.brief(micro)
		view["user_id"], view["created_at"], view["updated_at"] = k.UserID, k.CreatedAt, nil
		view["id"], view["deleted"], view["deleted_at"] = 1, false, nil
		return ok(map[string]any{"keypair": view})
	})
	c.novaRoute(e, "DELETE /os-keypairs/{id}", func(q *request, micro int) (reply, error) {
		k, err := c.findKeyPair(q)
		if err != nil {
			return reply{}, err
		}
		c.nova.keyPairs.remove(k.UserID + "/" + k.Name)
		if micro < 202 {
			return reply{status: http.StatusAccepted}, nil
		}
		return noContent()
	})
}

func (k *KeyPair) brief(micro int) map[string]any {
	view := map[string]any{"name": k.Name, "public_key": k.PublicKey, "fingerprint": k.Fingerprint}
	if micro >= 202 {
		view["type"] = k.Type
	}
	return view
}

func (c *Cloud) findKeyPair(q *request) (*KeyPair, error) {
	k := c.nova.keyPairs.get(q.userID + "/" + q.path("id"))
	if k == nil {
		return nil, notFound("", "Keypair %s not found for user %s", q.path("id"), q.userID)
	}
	return k, nil
}

type keyPairInput struct {
	Name      string `json:"name"`
	PublicKey string `json:"public_key"`
	Type      string `json:"type"`
}

// check validates against the schema of the microversion.
func (in *keyPairInput) check(micro int) error {
	if in.Name == "" || len(in.Name) > 255 || strings.TrimSpace(in.Name) != in.Name {
		return badRequest("", "Invalid input for field/attribute name. Value: %s. '%s' is too short", in.Name, in.Name)
	}
	if in.Type != "" && micro < 202 {
		return badRequest("", "Invalid input for field/attribute keypair. Value: ... Additional properties are not allowed ('type' was unexpected)")
	}
	if in.PublicKey == "" && micro >= 292 {
		return badRequest("", "Invalid input for field/attribute keypair. 'public_key' is a required property")
	}
	return nil
}

func (c *Cloud) createKeyPair(q *request, micro int) (reply, error) {
	var in keyPairInput
	raw, found := unwrap(q.body, "keypair")
	if !found || json.Unmarshal(raw, &in) != nil {
		return reply{}, badRequest("", "Invalid input for field/attribute keypair. 'keypair' is a required property")
	}
	if err := in.check(micro); err != nil {
		return reply{}, err
	}
	mine := func(k *KeyPair) bool { return k.UserID == q.userID }
	if c.exceeds(q.projectID, "key_pairs", c.nova.keyPairs.count(mine), 1) {
		return reply{}, forbidden("", "Quota exceeded, too many key pairs.")
	}
	if c.nova.keyPairs.get(q.userID+"/"+in.Name) != nil {
		return reply{}, conflict("", "Key pair '%s' already exists.", in.Name)
	}
	k, private, err := c.newKeyPair(q.userID, &in)
	if err != nil {
		return reply{}, err
	}
	view := c.nova.keyPairs.add(k).brief(micro)
	view["user_id"] = k.UserID
	if private != "" {
		view["private_key"] = private
	}
	status := http.StatusCreated
	if micro < 202 {
		status = http.StatusOK
	}
	return reply{status: status, body: map[string]any{"keypair": view}}, nil
}

// newKeyPair takes the public key of the request, or makes a pair and returns the private key too.
func (c *Cloud) newKeyPair(userID string, in *keyPairInput) (k *KeyPair, private string, err error) {
	k = &KeyPair{Name: in.Name, PublicKey: in.PublicKey, Type: "ssh", UserID: userID, CreatedAt: timestamp(c.now())}
	if k.PublicKey == "" {
		if k.PublicKey, private, err = generateKey(in.Name); err != nil {
			return nil, "", err
		}
	}
	encoded := strings.Fields(k.PublicKey)
	if len(encoded) < 2 {
		return nil, "", badRequest("", "Keypair data is invalid: failed to generate fingerprint")
	}
	blob, err := base64.StdEncoding.DecodeString(encoded[1])
	if err != nil {
		return nil, "", badRequest("", "Keypair data is invalid: failed to generate fingerprint")
	}
	key, err := ssh.ParsePublicKey(blob)
	if err != nil {
		return nil, "", badRequest("", "Keypair data is invalid: failed to generate fingerprint")
	}
	k.Fingerprint = ssh.FingerprintLegacyMD5(key)
	return k, private, nil
}

// generateKey makes a key pair in the formats of OpenSSH. Nova's would be RSA, which is slow to make.
func generateKey(comment string) (public, private string, err error) {
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", "", fmt.Errorf("generating a key pair: %w", err)
	}
	key, err := ssh.NewPublicKey(pub)
	if err != nil {
		return "", "", fmt.Errorf("encoding a public key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(priv, comment)
	if err != nil {
		return "", "", fmt.Errorf("encoding a private key: %w", err)
	}
	return string(ssh.MarshalAuthorizedKey(key)), string(pem.EncodeToMemory(block)), nil
}

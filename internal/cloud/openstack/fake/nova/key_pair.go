package nova

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
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

// keyPairKey identifies a key pair. The databases of most clouds compare without case.
func keyPairKey(userID, name string) string { return userID + "/" + strings.ToLower(name) }

func (svc *Service) registerKeyPairs(e core.Endpoint) {
	svc.novaRoute(e, "GET /os-keypairs", svc.listKeyPairs)
	svc.novaRoute(e, "POST /os-keypairs", svc.createKeyPair)
	svc.novaRoute(e, "GET /os-keypairs/{id}", func(q *core.Request, micro int) (core.Reply, error) {
		k, err := svc.findKeyPair(q, micro, "show")
		if err != nil {
			return core.Reply{}, err
		}
		view := k.brief(micro)
		view["user_id"], view["created_at"], view["updated_at"] = k.UserID, k.CreatedAt, nil
		view["deleted"], view["deleted_at"] = false, nil
		return core.OK(map[string]any{"keypair": view})
	})
	svc.novaRoute(e, "DELETE /os-keypairs/{id}", func(q *core.Request, micro int) (core.Reply, error) {
		k, err := svc.findKeyPair(q, micro, "delete")
		if err != nil {
			return core.Reply{}, err
		}
		svc.KeyPairs.Remove(keyPairKey(k.UserID, k.Name))
		if micro < 202 {
			return core.Reply{Status: http.StatusAccepted}, nil
		}
		return core.NoContent()
	})
}

// listKeyPairs lists them by name, and from microversion 2.35 in pages.
func (svc *Service) listKeyPairs(q *core.Request, micro int) (core.Reply, error) {
	owner, err := keyPairOwner(q, micro, "index")
	if err == nil && micro >= 275 {
		err = onlyParameters(q, "user_id", "limit", "marker")
	}
	marker := q.Values.Get("marker")
	if err == nil && micro >= 235 && marker != "" && svc.KeyPairs.Get(keyPairKey(owner, marker)) == nil {
		err = core.BadRequest("", "Marker %s could not be found.", marker)
	}
	if err != nil {
		return core.Reply{}, err
	}
	rows := svc.KeyPairs.Where(func(k *KeyPair) bool { return k.UserID == owner })
	slices.SortStableFunc(rows, func(a, b *KeyPair) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	part := core.Page[KeyPair]{Rows: rows}
	if micro >= 235 {
		if part, err = novaPage(q, rows, func(k *KeyPair) string { return k.Name }); err != nil {
			return core.Reply{}, err
		}
	}
	out := []any{}
	for _, k := range part.Rows {
		out = append(out, map[string]any{"keypair": k.brief(micro)})
	}
	body := map[string]any{"keypairs": out}
	if part.Links != nil {
		body["keypairs_links"] = part.Links
	}
	return core.OK(body)
}

// keyPairOwner is the user whose key pairs a call is about: the caller, or from microversion 2.10 the one that an operator names.
func keyPairOwner(q *core.Request, micro int, action string) (string, error) {
	named := q.Values.Get("user_id")
	if micro < 210 || named == "" || named == q.UserID {
		return q.UserID, nil
	}
	if !q.Admin() {
		return "", policyForbids("os-keypairs:" + action)
	}
	return named, nil
}

func (k *KeyPair) brief(micro int) map[string]any {
	view := map[string]any{"name": k.Name, "public_key": k.PublicKey, "fingerprint": k.Fingerprint}
	if micro >= 202 {
		view["type"] = k.Type
	}
	return view
}

func (svc *Service) findKeyPair(q *core.Request, micro int, action string) (*KeyPair, error) {
	owner, err := keyPairOwner(q, micro, action)
	if err != nil {
		return nil, err
	}
	k := svc.KeyPairs.Get(keyPairKey(owner, q.Path("id")))
	if k == nil {
		return nil, core.NotFound("", "Keypair %s not found for user %s", q.Path("id"), owner)
	}
	return k, nil
}

type keyPairInput struct {
	Name      string  `json:"name"`
	PublicKey *string `json:"public_key"`
	UserID    string  `json:"user_id"`
}

// The characters of a name.
const (
	keyPairCharacters      = "_- 0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	keyPairCharactersSince = "@." + keyPairCharacters // microversion 2.92
)

// keyPairRule is the schema of the microversion.
func keyPairRule(micro int) schema.Rule {
	allowed, required := keyPairCharacters, []string{"name"}
	if micro >= 292 {
		allowed, required = keyPairCharactersSince, []string{"name", "public_key"}
	}
	safe := func(key string, value any) string {
		if complaint := schema.Name(key, value); complaint != "" {
			return complaint
		}
		if strings.ContainsFunc(schema.PythonText(value), func(r rune) bool { return !strings.ContainsRune(allowed, r) }) {
			return schema.InvalidName("Only expected characters: [" + allowed + "]")
		}
		return ""
	}
	properties := []schema.Property{schema.Attribute("name", safe)}
	if micro >= 202 {
		properties = append(properties, schema.Attribute("type", schema.AllOf(schema.HasType("string"), schema.OneOf("ssh", "x509"))))
	}
	properties = append(properties, schema.Attribute("public_key", schema.HasType("string")))
	if micro >= 210 {
		properties = append(properties, schema.Attribute("user_id", schema.HasType("string")))
	}
	return schema.Object([]string{"keypair"}, schema.Attribute("keypair", schema.Object(required, properties...)))
}

func (svc *Service) createKeyPair(q *core.Request, micro int) (core.Reply, error) {
	if err := schema.Validate(q.Body, keyPairRule(micro)); err != nil {
		return core.Reply{}, err
	}
	in := keyPairInput{UserID: q.UserID}
	if raw, _ := core.Unwrap(q.Body, "keypair"); json.Unmarshal(raw, &in) != nil {
		return core.Reply{}, core.BadRequest("", "Malformed request body")
	}
	if in.UserID != q.UserID && !q.Admin() {
		return core.Reply{}, policyForbids("os-keypairs:create")
	}
	mine := func(k *KeyPair) bool { return k.UserID == in.UserID }
	if svc.Exceeds(q.ProjectID, "key_pairs", svc.KeyPairs.Count(mine), 1) {
		return core.Reply{}, core.Forbidden("", "Quota exceeded, too many key pairs.")
	}
	k, private, err := svc.newKeyPair(&in)
	if err != nil {
		return core.Reply{}, err
	}
	if svc.KeyPairs.Get(keyPairKey(in.UserID, in.Name)) != nil {
		return core.Reply{}, core.Conflict("", "Key pair '%s' already exists.", in.Name)
	}
	view := svc.KeyPairs.Add(k).brief(micro)
	view["user_id"] = k.UserID
	if private != "" {
		view["private_key"] = private
	}
	status := http.StatusCreated
	if micro < 202 {
		status = http.StatusOK
	}
	return core.Reply{Status: status, Body: map[string]any{"keypair": view}}, nil
}

// newKeyPair uses the public key of the request, or creates a pair and returns the private key, too.
func (svc *Service) newKeyPair(in *keyPairInput) (k *KeyPair, private string, err error) {
	k = &KeyPair{Name: in.Name, Type: "ssh", UserID: in.UserID, CreatedAt: core.ManilaTime(svc.Now())}
	if in.PublicKey == nil {
		if k.PublicKey, private, err = generateKey(); err != nil {
			return nil, "", err
		}
	} else {
		k.PublicKey = *in.PublicKey
	}
	if _, _, _, _, err := ssh.ParseAuthorizedKey([]byte(k.PublicKey)); err != nil {
		return nil, "", core.BadRequest("", "Keypair data is invalid: failed to generate fingerprint")
	}
	// Nova uses what is between the first two spaces, even if that is empty.
	encoded := strings.SplitN(k.PublicKey, " ", 3)[1]
	blob, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		return nil, "", core.BadRequest("", "Keypair data is invalid: failed to generate fingerprint")
	}
	k.Fingerprint = colons(md5.Sum(blob))
	return k, private, nil
}

func colons(sum [md5.Size]byte) string {
	parts := make([]string, len(sum))
	for i, b := range sum {
		parts[i] = fmt.Sprintf("%02x", b)
	}
	return strings.Join(parts, ":")
}

// generateKey creates a key pair as Nova does.
func generateKey() (public, private string, err error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", "", fmt.Errorf("generating a key pair: %w", err)
	}
	pub, err := ssh.NewPublicKey(&key.PublicKey)
	if err != nil {
		return "", "", fmt.Errorf("encoding a public key: %w", err)
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(pub))) + " Generated-by-Nova", string(pem.EncodeToMemory(block)), nil
}

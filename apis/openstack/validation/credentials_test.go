package validation_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/validation"
)

// login returns the data of a Secret: those of a user, with changes. A change to "-" removes the key.
func login(keysAndValues ...string) map[string][]byte {
	data := pairs("username", "u", "password", "p", "domainName", "d", "tenantName", "t")
	for key, value := range pairs(keysAndValues...) {
		if data[key] = value; string(value) == "-" {
			delete(data, key)
		}
	}
	return data
}

func pairs(keysAndValues ...string) map[string][]byte {
	data := map[string][]byte{}
	for i := 0; i < len(keysAndValues); i += 2 {
		data[keysAndValues[i]] = []byte(keysAndValues[i+1])
	}
	return data
}

func certificate(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestValidateCredentials_Valid(t *testing.T) {
	for sentence, data := range map[string]map[string][]byte{
		"user and password, by names":                     login(),
		"user and password, by IDs":                       pairs("username", "u", "password", "p", "domainID", "D", "tenantID", "T"),
		"a user of another domain":                        login("userDomainName", "ud"),
		"a project's ID and the user's domain":            pairs("username", "u", "password", "p", "userDomainID", "UD", "tenantID", "T"),
		"an application credential by ID, alone":          pairs("applicationCredentialID", "i", "applicationCredentialSecret", "s"),
		"an application credential by ID, with a project": login("password", "-", "applicationCredentialID", "i", "applicationCredentialSecret", "s"),
		"an application credential by name":               login("password", "-", "applicationCredentialName", "n", "applicationCredentialSecret", "s"),
		"a password next to half a credential":            login("applicationCredentialID", "i", "applicationCredentialName", "n"),
		"where Keystone is":                               login("authURL", "https://keystone.example.org:5000/v3/"),
		"certificates, with white space around them":      login("caCert", "\n"+certificate(t)+certificate(t)+"\n"),
		"insecure connections":                            login("insecure", "true"),
		"insecure connections, refused in another case":   login("insecure", "False"),
		"a password of white space":                       login("password", " \t "),
		"a secret with white space around it":             login("password", "-", "applicationCredentialID", "i", "applicationCredentialSecret", " s "),
		"keys that nobody knows":                          login("region", ""),
		"names as long as they may be": login(
			"domainName", strings.Repeat("ö", 64), "tenantName", strings.Repeat("t", 64), "username", strings.Repeat("ü", 255)),
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Empty(t, validation.ValidateCredentials(data, field.NewPath("data")))
		})
	}
}

func TestValidateCredentials_Invalid(t *testing.T) {
	invalid := func(key, detail string) string { return "data[" + key + "]: Invalid value: " + detail }
	for sentence, test := range map[string]struct {
		data map[string][]byte
		want []string
	}{
		"nothing at all": {nil, []string{
			"data: Required value: they let nobody log in: set username and password, or applicationCredentialID and applicationCredentialSecret",
		}},
		"a user without a password": {login("password", "-"), []string{
			"data[password]: Required value: add the user's, or use an application credential",
		}},
		"a password that is empty": {login("password", ""), []string{
			"data[password]: Required value: add the user's, or use an application credential",
		}},
		"a password without anything": {pairs("password", "hidden"), []string{
			"data[username]: Required value: add the user's name",
			"data[domainName]: Required value: the user's domain is missing: set domainName or domainID",
			"data[tenantName]: Required value: the project is missing: set tenantName or tenantID",
		}},
		"a project's name and no domain": {login("domainName", "-"), []string{
			"data[domainName]: Required value: the user's domain is missing: set domainName or domainID",
		}},
		"a project's name without its own domain": {login("domainName", "-", "userDomainName", "ud"), []string{
			"data[domainName]: Required value: the project's domain is missing: set domainName or domainID",
		}},
		"a password and an application credential": {login("applicationCredentialSecret", "hidden", "applicationCredentialID", "i"), []string{
			"data[applicationCredentialSecret]: Forbidden: nobody could tell who is meant to log in: remove it, or password",
		}},
		"a credential without its secret": {pairs("applicationCredentialID", "i"), []string{
			"data[applicationCredentialSecret]: Required value: add the application credential's secret",
		}},
		"a secret without its credential": {pairs("applicationCredentialSecret", "hidden"), []string{
			"data[applicationCredentialID]: Required value: whose secret is it? Set it, or applicationCredentialName and username",
		}},
		"a credential by name without a user": {pairs("applicationCredentialName", "n", "applicationCredentialSecret", "hidden", "domainID", "D"), []string{
			"data[username]: Required value: add the user's name",
		}},
		"keys without a value": {login("caCert", "\n", "tenantID", " ", "insecure", ""), []string{
			invalid("caCert", "is empty: give it a value, or remove the key"),
			invalid("insecure", "is empty: give it a value, or remove the key"),
			invalid("tenantID", "is empty: give it a value, or remove the key"),
		}},
		"line breaks": {login("password", "hidden\n", "username", "hidden\n"), []string{
			invalid("username", "contains a line break, which many tools add at the end: remove it"),
			invalid("password", "contains a line break, which many tools add at the end: remove it"),
		}},
		"white space around names": {login("tenantName", " hidden", "domainName", "hid den "), []string{
			invalid("domainName", "begins or ends with white space: remove it"),
			invalid("tenantName", "begins or ends with white space: remove it"),
		}},
		"control characters":        {login("username", "hid\x00den"), []string{invalid("username", "contains control characters: remove them")}},
		"a password in Latin-1":     {login("password", "hidden\xfc"), []string{invalid("password", "is not UTF-8: enter it again")}},
		"a domain with a long name": {login("domainName", strings.Repeat("d", 65)), []string{invalid("domainName", "has more than 64 characters, which Keystone does not take: correct it")}},
		"a user with a long name":   {login("username", strings.Repeat("u", 256)), []string{invalid("username", "has more than 255 characters, which Keystone does not take: correct it")}},
		"a long ID":                 {pairs("applicationCredentialID", strings.Repeat("i", 65), "applicationCredentialSecret", "hidden"), []string{invalid("applicationCredentialID", "has more than 64 characters, which Keystone does not take: correct it")}},
		"perhaps insecure":          {login("insecure", "yes"), []string{invalid("insecure", "must be true or false: correct it, or remove the key")}},
		"an address of another protocol": {login("authURL", "ftp://hidden"), []string{
			invalid("authURL", "must be an address like https://keystone.example.org:5000/v3: correct it, or remove the key where the CloudProfile has Keystone's address"),
		}},
		"an address that is none": {login("authURL", "https://hidden:port%"), []string{
			invalid("authURL", "must be an address like https://keystone.example.org:5000/v3: correct it, or remove the key where the CloudProfile has Keystone's address"),
		}},
		"the version before":              {login("authURL", "https://hidden/v2.0/"), []string{invalid("authURL", "is of version 2.0: use Keystone's version 3")}},
		"a bundle without a certificate":  {login("caCert", "hidden"), []string{invalid("caCert", "holds no certificate: give one or more in PEM, or remove the key")}},
		"a certificate that is only half": {login("caCert", "-----BEGIN CERTIFICATE-----\nhidden"), []string{invalid("caCert", "holds no certificate: give one or more in PEM, or remove the key")}},
	} {
		t.Run(sentence, func(t *testing.T) {
			before := maps.Clone(test.data)
			var got []string
			for _, fieldError := range validation.ValidateCredentials(test.data, field.NewPath("data")) {
				got = append(got, fieldError.Error())
				assert.NotContains(t, fieldError.Error(), "hidden")
			}
			assert.Empty(t, cmp.Diff(test.want, got))
			assert.Empty(t, cmp.Diff(before, test.data))
		})
	}
}

func TestCredentialsWarnings(t *testing.T) {
	path := field.NewPath("data")
	assert.Empty(t, validation.CredentialsWarnings(login("insecure", "true"), path))
	assert.Equal(t, []string{
		"data[applicationCredentialID]: is not read, since there is a password: remove one of the two",
		"data[applicationCredentialName]: is not read, since there is a password: remove one of the two",
		"data[region]: is not a key of OpenStack credentials and is ignored: remove it",
		"data[tenantname]: is not a key of OpenStack credentials and is ignored: rename it to tenantName, or remove it",
	}, validation.CredentialsWarnings(login(
		"tenantname", "t", "region", "one", "applicationCredentialID", "i", "applicationCredentialName", "n"), path))
}

func TestDomainName(t *testing.T) {
	assert.Equal(t, "d", validation.DomainName(login("domainName", " d\n")))
	assert.Empty(t, validation.DomainName(login("domainName", "-", "domainID", "D")))
	assert.Empty(t, validation.DomainName(nil))
}

func TestValidateCredentialsUpdate(t *testing.T) {
	ids := func(keysAndValues ...string) map[string][]byte {
		data := login("tenantID", "T", "domainID", "D")
		maps.Copy(data, pairs(keysAndValues...))
		return data
	}
	for sentence, test := range map[string]struct {
		before, after map[string][]byte
		want          string
	}{
		"another password":            {login(), login("password", "q"), ""},
		"another user":                {login(), login("username", "v"), ""},
		"a user becomes a credential": {login(), pairs("applicationCredentialID", "i", "applicationCredentialSecret", "s"), ""},
		"a user of elsewhere becomes a credential by name": {
			login("userDomainName", "x"),
			login("password", "-", "tenantName", "-", "domainName", "x", "applicationCredentialName", "n", "applicationCredentialSecret", "s"), "",
		},
		"an ID in place of the name":            {login(), login("tenantName", "-", "tenantID", "T"), ""},
		"a project that was renamed":            {ids(), ids("tenantName", "u"), ""},
		"a domain that was renamed":             {ids(), ids("domainName", "e"), ""},
		"the same project, a user of elsewhere": {ids(), ids("domainID", "E"), ""},
		"white space around the same names":     {login("tenantName", " t"), login(), ""},
		"another address, which means nothing":  {login("authURL", "https://a/v3"), login("authURL", "https://b/v3"), ""},
		"another project's name":                {login(), login("tenantName", "u"), "data[tenantName]"},
		"another project's ID, of the same name": {
			ids(), ids("tenantID", "U"), "data[tenantID]",
		},
		"the ID lost and the name changed": {ids(), login("tenantName", "u", "domainID", "D"), "data[tenantName]"},
		"a project by that name in another domain": {
			login(), login("domainName", "e"), "data[domainName]",
		},
		"a project by that name in a domain with another ID": {
			login("domainID", "D"), login("domainID", "E"), "data[domainID]",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			errs := validation.ValidateCredentialsUpdate(test.before, test.after, field.NewPath("data"))
			if test.want == "" {
				assert.Empty(t, errs)
				return
			}
			require.Len(t, errs, 1)
			assert.Equal(t, test.want, errs[0].Field)
			assert.Contains(t, errs[0].Detail, "set it back, or make a new Secret and a new binding")
		})
	}
}

func TestValidateCredentialsUpdate_Remedy(t *testing.T) {
	errs := validation.ValidateCredentialsUpdate(
		login("authURL", "https://a/v3"), login("authURL", "https://b/v3", "tenantName", "u", "domainName", "e"), field.NewPath("data"))
	require.Len(t, errs, 2)
	assert.Contains(t, errs[0].Detail, "If it was only renamed, give tenantID instead")
	assert.Contains(t, errs[1].Detail, "If it was only renamed, give domainID instead")
}

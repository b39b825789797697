package openstack

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/validation"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
)

// Admission may not know the cloud, and the cloud may not know the APIs, so that each says for itself which credentials can be used. This is where
// both are known.

// usable reports whether a driver would try to log in with the credentials, given that the CloudProfile may have Keystone's address.
func usable(data map[string][]byte) bool {
	credentials, err := auth.ParseCredentials(data)
	if err != nil {
		return false
	}
	if credentials.AuthURL == "" {
		credentials.AuthURL = "https://keystone.example.org/v3"
	}
	return credentials.Validate() == nil
}

// refusedKeys are the keys that admission complains about; "" is the data as a whole.
func refusedKeys(data map[string][]byte) []string {
	keys := []string{}
	for _, problem := range validation.ValidateCredentials(data, field.NewPath("data")) {
		key, _ := strings.CutPrefix(problem.Field, "data[")
		keys = append(keys, strings.TrimSuffix(strings.TrimPrefix(key, "data"), "]"))
	}
	slices.Sort(keys)
	return keys
}

// TestValidateCredentials_KeysAgreeWithLogin goes through all combinations of the keys that decide who logs in, each absent, given or blank.
// Nothing but blank keys is refused for which a login would be tried.
func TestValidateCredentials_KeysAgreeWithLogin(t *testing.T) {
	keys := []string{
		"username", "password", "applicationCredentialID", "applicationCredentialName", "applicationCredentialSecret",
		"domainName", "domainID", "tenantName", "tenantID", "userDomainName", "userDomainID",
	}
	blank := map[string]string{"password": "", "applicationCredentialSecret": "", "tenantID": "", "domainName": " \n"}
	cases, accepted, stricter := 0, 0, 0
	var visit func(left []string, data map[string][]byte, blanks []string)
	visit = func(left []string, data map[string][]byte, blanks []string) {
		if len(left) == 0 {
			cases++
			refused := refusedKeys(data)
			switch {
			case !usable(data):
				require.NotEmpty(t, refused, "%s", data)
			case len(blanks) > 0:
				stricter++
				require.ElementsMatch(t, blanks, refused, "%s", data)
			default:
				accepted++
				require.Empty(t, refused, "%s", data)
			}
			return
		}
		key, rest := left[0], left[1:]
		visit(rest, data, blanks)
		data[key] = []byte("some-" + key)
		visit(rest, data, blanks)
		data[key] = []byte(" ")
		if value, ok := blank[key]; ok {
			data[key] = []byte(value)
		}
		visit(rest, data, append(slices.Clone(blanks), key))
		delete(data, key)
	}
	visit(keys, map[string][]byte{}, nil)
	assert.Equal(t, 177147, cases) // three to the power of eleven
	assert.Positive(t, accepted)
	assert.Positive(t, stricter)
}

// TestValidateCredentials_ValuesAgreeWithLogin goes through values of all keys. Those that are refused although a login would be tried are listed.
func TestValidateCredentials_ValuesAgreeWithLogin(t *testing.T) {
	certificate := certificateAuthority(t)
	forms := []map[string]string{
		{"username": "u", "password": "p", "domainName": "d", "tenantName": "t", "userDomainName": "ud"},
		{"username": "u", "password": "p", "domainID": "D", "tenantID": "T", "userDomainID": "UD"},
		{"applicationCredentialID": "i", "applicationCredentialSecret": "s", "domainName": "d", "tenantName": "t"},
		{"username": "u", "applicationCredentialName": "n", "applicationCredentialSecret": "s", "domainName": "d", "tenantName": "t"},
	}
	names := []string{
		"username", "domainName", "domainID", "tenantName", "tenantID", "userDomainName", "userDomainID", "applicationCredentialID",
		"applicationCredentialName",
	}
	secrets := []string{"password", "applicationCredentialSecret"}
	asIs := map[string][]string{} // validated alike by both, by key
	strict := map[string][]string{}
	for _, key := range names {
		asIs[key] = []string{"x", strings.Repeat("ö", 64), `a "name" with {braces}`, "two words"}
		strict[key] = []string{" x", "x\n", "a\nb", "a\tb", "a\x00b", "\xff", strings.Repeat("x", 256)}
		if key != "username" && key != "applicationCredentialName" {
			strict[key] = append(strict[key], strings.Repeat("x", 65))
		}
	}
	for _, key := range secrets {
		asIs[key] = []string{" x ", "a\tb", " ", strings.Repeat("x", 5000)}
		strict[key] = []string{"x\n", "a\r\nb", "\xff"}
	}
	asIs["authURL"] = []string{
		"https://a", "http://a:5000/v3", "HTTPS://a/", "ftp://a", "a", "//a", "https:a", "https://", "https://a/v2.0", "https://a/v2.0//", "https://a/v2.0/x",
		"https://%", "https://a:b", "https://user@a/v3?x#y", "https://[::1]:5000",
	}
	strict["authURL"] = []string{" https://a", "https://a\n", ""}
	asIs["caCert"] = []string{certificate, certificate + "\n" + certificate, "\n " + certificate + "\n", "x", "-----BEGIN CERTIFICATE-----", "text " + certificate}
	strict["caCert"] = []string{"", " "}
	asIs["insecure"] = []string{"true", "false", "TRUE", "False"}
	strict["insecure"] = []string{"yes", "0", "truefalse", " true", "false\n", ""}
	asIs["region"] = []string{"", "one", "\xff"}

	for _, form := range forms {
		for _, key := range slices.Sorted(maps.Keys(asIs)) {
			if _, there := form[key]; !there && (slices.Contains(names, key) || slices.Contains(secrets, key)) {
				continue
			}
			data := map[string][]byte{}
			for other, value := range form {
				data[other] = []byte(value)
			}
			for _, value := range asIs[key] {
				data[key] = []byte(value)
				assert.Equal(t, usable(data), len(refusedKeys(data)) == 0, "%s: %q", key, value)
			}
			for _, value := range strict[key] {
				data[key] = []byte(value)
				assert.True(t, usable(data), "%s: %q", key, value)
				assert.Equal(t, []string{key}, refusedKeys(data), "%s: %q", key, value)
			}
		}
	}
}

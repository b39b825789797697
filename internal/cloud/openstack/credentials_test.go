package openstack_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
)

func secret(keysAndValues ...string) map[string][]byte {
	data := map[string][]byte{}
	for i := 0; i < len(keysAndValues); i += 2 {
		data[keysAndValues[i]] = []byte(keysAndValues[i+1])
	}
	return data
}

func TestParseCredentials_Login(t *testing.T) {
	for name, tc := range map[string]struct {
		data map[string][]byte
		want string // the body of the login
	}{
		"user and password, by names": {
			data: secret("username", "u", "password", "p", "domainName", "d", "tenantName", "t"),
			want: `{"auth": {
				"identity": {"methods": ["password"], "password": {"user": {"name": "u", "password": "p", "domain": {"name": "d"}}}},
				"scope": {"project": {"name": "t", "domain": {"name": "d"}}}}}`,
		},
		"user and password, by IDs": {
			data: secret("username", "u", "password", "p", "domainID", "D", "tenantID", "T"),
			want: `{"auth": {
				"identity": {"methods": ["password"], "password": {"user": {"name": "u", "password": "p", "domain": {"id": "D"}}}},
				"scope": {"project": {"id": "T"}}}}`,
		},
		"IDs win over names": {
			data: secret("username", "u", "password", "p", "domainName", "d", "domainID", "D", "tenantName", "t", "tenantID", "T"),
			want: `{"auth": {
				"identity": {"methods": ["password"], "password": {"user": {"name": "u", "password": "p", "domain": {"id": "D"}}}},
				"scope": {"project": {"id": "T"}}}}`,
		},
		"a user from another domain than the project's": {
			data: secret("username", "u", "password", "p", "domainName", "d", "userDomainName", "ud", "tenantName", "t"),
			want: `{"auth": {
				"identity": {"methods": ["password"], "password": {"user": {"name": "u", "password": "p", "domain": {"name": "ud"}}}},
				"scope": {"project": {"name": "t", "domain": {"name": "d"}}}}}`,
		},
		"a user's domain by ID": {
			data: secret("username", "u", "password", "p", "userDomainID", "UD", "tenantID", "T"),
			want: `{"auth": {
				"identity": {"methods": ["password"], "password": {"user": {"name": "u", "password": "p", "domain": {"id": "UD"}}}},
				"scope": {"project": {"id": "T"}}}}`,
		},
		"an application credential by ID, alone": {
			data: secret("applicationCredentialID", "i", "applicationCredentialSecret", "s"),
			want: `{"auth": {"identity": {"methods": ["application_credential"], "application_credential": {"id": "i", "secret": "s"}}}}`,
		},
		"an application credential by ID, with what the upstream extension demands besides": {
			data: secret("applicationCredentialID", "i", "applicationCredentialSecret", "s", "domainName", "d", "tenantName", "t"),
			want: `{"auth": {"identity": {"methods": ["application_credential"], "application_credential": {"id": "i", "secret": "s"}}}}`,
		},
		"an application credential by ID and name": {
			data: secret("applicationCredentialID", "i", "applicationCredentialName", "n", "applicationCredentialSecret", "s"),
			want: `{"auth": {"identity": {"methods": ["application_credential"], "application_credential": {"id": "i", "secret": "s"}}}}`,
		},
		"an application credential by name": {
			data: secret("username", "u", "applicationCredentialName", "n", "applicationCredentialSecret", "s", "domainName", "d", "tenantName", "t"),
			want: `{"auth": {"identity": {"methods": ["application_credential"], "application_credential": {
				"name": "n", "secret": "s", "user": {"name": "u", "domain": {"name": "d"}}}}}}`,
		},
		"user and password, next to an application credential that has no secret": {
			data: secret("username", "u", "password", "p", "domainName", "d", "tenantName", "t", "applicationCredentialID", "i", "applicationCredentialName", "n"),
			want: `{"auth": {
				"identity": {"methods": ["password"], "password": {"user": {"name": "u", "password": "p", "domain": {"name": "d"}}}},
				"scope": {"project": {"name": "t", "domain": {"name": "d"}}}}}`,
		},
		"user and password, next to keys that nobody knows": {
			data: secret("username", "u", "password", "p", "domainName", "d", "tenantName", "t", "region", "one", "clientKey", "k"),
			want: `{"auth": {
				"identity": {"methods": ["password"], "password": {"user": {"name": "u", "password": "p", "domain": {"name": "d"}}}},
				"scope": {"project": {"name": "t", "domain": {"name": "d"}}}}}`,
		},
		"white space around names but not within secrets": {
			data: secret("username", " u\n", "password", " p\n", "domainName", "d\n", "tenantName", "t "),
			want: `{"auth": {
				"identity": {"methods": ["password"], "password": {"user": {"name": "u", "password": " p\n", "domain": {"name": "d"}}}},
				"scope": {"project": {"name": "t", "domain": {"name": "d"}}}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := auth.ParseCredentials(tc.data)
			require.NoError(t, err)
			require.ErrorContains(t, c.Validate(), `"authURL" is missing`)
			c.AuthURL = "https://cloud.test/identity"
			require.NoError(t, c.Validate())

			stub := &stubCloud{}
			_, err = stub.sessions(openstack.Options{}).Get(t.Context(), c, "one")
			require.NoError(t, err)
			assert.JSONEq(t, tc.want, stub.lastBody())
		})
	}
}

func TestParseCredentials_Invalid(t *testing.T) {
	user := secret("username", "u", "password", "hidden", "domainName", "d", "tenantName", "t")
	with := func(keysAndValues ...string) map[string][]byte {
		data := maps.Clone(user)
		maps.Copy(data, secret(keysAndValues...))
		return data
	}
	for name, tc := range map[string]struct {
		data map[string][]byte
		want []string
	}{
		"nothing at all":                    {secret(), []string{`set "username" and "password", or "applicationCredentialID" and "applicationCredentialSecret"`}},
		"a user without a password":         {secret("username", "u"), []string{`"password" is missing`}},
		"a password without a user":         {secret("password", "hidden", "domainName", "d", "tenantName", "t"), []string{`"username" is missing`}},
		"a user without a domain":           {secret("username", "u", "password", "hidden", "tenantID", "T"), []string{`set "domainName" or "domainID"`}},
		"a user without a project":          {secret("username", "u", "password", "hidden", "domainName", "d"), []string{`set "tenantName" or "tenantID"`}},
		"a project's name without a domain": {secret("username", "u", "password", "hidden", "userDomainName", "d", "tenantName", "t"), []string{`"tenantName" needs its domain: set "domainName" or "domainID"`}},
		"two things at once":                {secret("username", "u", "password", "hidden"), []string{`set "domainName" or "domainID"`, `set "tenantName" or "tenantID"`}},
		"an empty password":                 {with("password", ""), []string{`"password" is missing`}},
		"a password and a credential":       {with("applicationCredentialID", "i", "applicationCredentialSecret", "hidden"), []string{`"password" and "applicationCredentialSecret" exclude each other: remove one of the two`}},
		"a password and somebody's secret":  {with("applicationCredentialSecret", "hidden"), []string{`"password" and "applicationCredentialSecret" exclude each other`}},
		"half a credential, no password":    {secret("username", "u", "applicationCredentialName", "n", "domainName", "d", "tenantName", "t"), []string{`"applicationCredentialSecret" is missing`}},
		"a credential without a secret":     {secret("applicationCredentialID", "i"), []string{`"applicationCredentialSecret" is missing`}},
		"a secret without a credential":     {secret("applicationCredentialSecret", "hidden"), []string{`"applicationCredentialSecret" needs "applicationCredentialID"`}},
		"a credential by name without user": {secret("applicationCredentialName", "n", "applicationCredentialSecret", "hidden", "domainName", "d"), []string{`"username" is missing`}},
		"a credential by name, no domain":   {secret("applicationCredentialName", "n", "applicationCredentialSecret", "hidden", "username", "u"), []string{`set "domainName" or "domainID"`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := auth.ParseCredentials(tc.data)
			require.Error(t, err)
			assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
			for _, want := range tc.want {
				require.ErrorContains(t, err, want)
			}
			assert.NotContains(t, err.Error(), "hidden")
		})
	}
}

func TestParseCredentials_OptionalKeys(t *testing.T) {
	for text, want := range map[string]bool{"true": true, "True": true, "false": false, "": false, "yes": false, "1": false} {
		c, err := auth.ParseCredentials(secret(
			"applicationCredentialID", "i", "applicationCredentialSecret", "s", "insecure", text+"\n", "authURL", "https://cloud.test/v3\n",
		))
		require.NoError(t, err)
		assert.Equal(t, want, c.Insecure, text)
		assert.Equal(t, "https://cloud.test/v3", c.AuthURL)
	}
}

func TestCredentials_Validate(t *testing.T) {
	for name, tc := range map[string]struct{ key, value, want string }{
		"an auth URL that is none":          {"authURL", "hidden", `"authURL" must be an address like https://`},
		"an auth URL of another protocol":   {"authURL", "ftp://hidden", `"authURL" must be an address like https://`},
		"an auth URL of the version before": {"authURL", "https://hidden/v2.0/", `"authURL" is of version 2.0, use Keystone's version 3`},
		"a CA bundle without a certificate": {"caCert", "hidden", `"caCert" holds no certificate`},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := auth.ParseCredentials(secret("applicationCredentialID", "i", "applicationCredentialSecret", "s", tc.key, tc.value))
			require.NoError(t, err, "the caller may replace it")
			err = c.Validate()
			require.ErrorContains(t, err, tc.want)
			require.ErrorContains(t, err, "correct it in the Secret, or in the cloud profile")
			assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
			assert.NotContains(t, err.Error(), "hidden")
		})
	}
}

func TestCredentials_Format(t *testing.T) {
	c := credentials()
	encoded, err := json.Marshal(map[string]any{"credentials": c})
	require.NoError(t, err)
	for _, printed := range []string{
		fmt.Sprint(c), fmt.Sprintf("%v %+v %#v %s %q %d", c, c, c, c, c, c), fmt.Sprintf("%+v", []auth.Credentials{c}), string(encoded),
	} {
		assert.NotContains(t, printed, "shh")
	}
}

package auth_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws/auth"
)

const (
	keyID  = "AKIAIOSFODNN7EXAMPLE"
	secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	role   = "arn:aws:iam::123456789012:role/shoots"
)

func TestParseCredentials(t *testing.T) {
	for sentence, test := range map[string]struct {
		data map[string]string
		want auth.Credentials
	}{
		"an access key": {
			map[string]string{"accessKeyID": keyID, "secretAccessKey": secret},
			auth.Credentials{AccessKeyID: keyID, SecretAccessKey: secret},
		},
		"with white space, a region and foreign keys": {
			map[string]string{"accessKeyID": " " + keyID + "\n", "secretAccessKey": secret + "\n", "region": "eu-west-1", "credentialsFile": "[default]"},
			auth.Credentials{AccessKeyID: keyID, SecretAccessKey: secret, Region: "eu-west-1"},
		},
		"the keys of AWS' tools": {
			map[string]string{"AWS_ACCESS_KEY_ID": keyID, "AWS_SECRET_ACCESS_KEY": secret, "AWS_REGION": "eu-west-1"},
			auth.Credentials{AccessKeyID: keyID, SecretAccessKey: secret, Region: "eu-west-1"},
		},
		"a workload identity with its configuration": {
			map[string]string{"token": "a.b.c", "config": `{"apiVersion":"aws.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkloadIdentityConfig","roleARN":"` + role + `"}`},
			auth.Credentials{Token: "a.b.c", RoleARN: role},
		},
		"a workload identity whose role is a key of its own": {
			map[string]string{"token": "a.b.c", "roleARN": role, "config": `{"roleARN":"arn:aws:iam::123456789012:role/other"}`},
			auth.Credentials{Token: "a.b.c", RoleARN: role},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := auth.ParseCredentials(bytesOf(test.data))
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

func TestParseCredentials_Problems(t *testing.T) {
	for sentence, test := range map[string]struct {
		data map[string]string
		want string
	}{
		"nothing":                         {nil, `they say nobody: set "accessKeyID" and "secretAccessKey"`},
		"no secret":                       {map[string]string{"accessKeyID": keyID}, `"secretAccessKey" is missing: add it`},
		"no key":                          {map[string]string{"secretAccessKey": secret}, `"accessKeyID" is missing: add it`},
		"a key that is too short":         {map[string]string{"accessKeyID": "AKIA", "secretAccessKey": secret}, `"accessKeyID" must be 20 upper-case letters and digits`},
		"a secret that is too short":      {map[string]string{"accessKeyID": keyID, "secretAccessKey": "s"}, `"secretAccessKey" must be 40 letters`},
		"a key and a token":               {map[string]string{"accessKeyID": keyID, "secretAccessKey": secret, "token": "t"}, `"accessKeyID" and "token" exclude each other`},
		"a token without a role":          {map[string]string{"token": "t"}, `"roleARN" is missing: add it, or "config" with it`},
		"a role without a token":          {map[string]string{"roleARN": role}, `"token" is missing`},
		"a role that is none":             {map[string]string{"token": "t", "roleARN": "arn:aws:iam::1:user/a"}, `"roleARN" must be the ARN of a role`},
		"a configuration that is no JSON": {map[string]string{"token": "t", "config": "roleARN"}, `"config" must be a WorkloadIdentityConfig in JSON`},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := auth.ParseCredentials(bytesOf(test.data))
			require.ErrorContains(t, err, test.want)
			assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
			assert.NotContains(t, err.Error(), secret)
		})
	}
}

func TestCredentials_PrintNoSecret(t *testing.T) {
	credentials := auth.Credentials{AccessKeyID: keyID, SecretAccessKey: secret}
	encoded, err := json.Marshal(credentials)
	require.NoError(t, err)
	for _, printed := range []string{fmt.Sprint(credentials), fmt.Sprintf("%#v", credentials), string(encoded)} {
		assert.NotContains(t, printed, secret)
		assert.NotContains(t, printed, keyID)
	}
}

func TestCredentials_SessionKey(t *testing.T) {
	one := auth.Credentials{AccessKeyID: keyID, SecretAccessKey: secret}
	same := auth.Credentials{AccessKeyID: keyID, SecretAccessKey: secret}
	assert.Equal(t, one.SessionKey("eu-west-1"), same.SessionKey("eu-west-1"))
	assert.NotEqual(t, one.SessionKey("eu-west-1"), one.SessionKey("eu-west-2"), "endpoints differ by region")
	assert.NotEqual(t, auth.Credentials{RoleARN: role, Token: "1"}.SessionKey("r"), auth.Credentials{RoleARN: role, Token: "2"}.SessionKey("r"))
}

func bytesOf(data map[string]string) map[string][]byte {
	all := map[string][]byte{}
	for key, value := range data {
		all[key] = []byte(value)
	}
	return all
}

package chart

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

func TestCredentialFor(t *testing.T) {
	const mine = `{"username":"mine","password":"p"}`
	const others = `{"username":"others","password":"p"}`
	for name, test := range map[string]struct {
		reference, config string
		user              string
	}{
		"by host":                               {"r.example.org/charts/a:1", `{"auths":{"r.example.org":` + mine + `}}`, "mine"},
		"by host and port":                      {"r.example.org:5000/a:1", `{"auths":{"r.example.org:5000":` + mine + `,"r.example.org":` + others + `}}`, "mine"},
		"by address":                            {"r.example.org/a:1", `{"auths":{"https://r.example.org":` + mine + `}}`, "mine"},
		"by address with a port":                {"r.example.org:5000/a:1", `{"auths":{"https://r.example.org:5000/v2/":` + mine + `}}`, "mine"},
		"by the port of HTTPS":                  {"r.example.org/a:1", `{"auths":{"r.example.org:443":` + mine + `}}`, "mine"},
		"by host, where the reference has it":   {"r.example.org:443/a:1", `{"auths":{"r.example.org":` + mine + `}}`, "mine"},
		"in capitals":                           {"R.example.org/a:1", `{"auths":{"r.Example.org":` + mine + `}}`, "mine"},
		"not by another port":                   {"r.example.org:5000/a:1", `{"auths":{"r.example.org":` + others + `}}`, ""},
		"not by a part of the host":             {"r.example.org/a:1", `{"auths":{"example.org":` + others + `,"r.example.org.evil":` + others + `}}`, ""},
		"by path before host":                   {"r.example.org/team/a:1", `{"auths":{"r.example.org":` + others + `,"r.example.org/team":` + mine + `}}`, "mine"},
		"by the whole repository before all":    {"r.example.org/team/a:1", `{"auths":{"r.example.org/team":` + others + `,"r.example.org/team/a":` + mine + `}}`, "mine"},
		"not by a part of a step":               {"r.example.org/team/a:1", `{"auths":{"r.example.org/te":` + others + `,"r.example.org":` + mine + `}}`, "mine"},
		"by the path of others if nothing else": {"r.example.org/team/a:1", `{"auths":{"r.example.org/other":` + mine + `}}`, "mine"},
		"the same each time": {
			"r.example.org/a:1", `{"auths":{"https://r.example.org/v2/":` + others + `,"r.example.org/v2/":` + others + `,"r.example.org/v1/":` + others +
				`,"r.example.org/":` + others + `,"https://r.example.org":` + others + `,"http://r.example.org":` + mine + `}}`, "mine",
		},
		"of Docker Hub":                  {"docker.io/library/a:1", `{"auths":{"https://index.docker.io/v1/":` + mine + `}}`, "mine"},
		"encoded":                        {"r.example.org/a:1", `{"auths":{"r.example.org":{"auth":"bWluZTpwOnE="}}}`, "mine"},
		"an empty entry is none":         {"r.example.org/a:1", `{"auths":{"r.example.org":{}}}`, ""},
		"no entry":                       {"r.example.org/a:1", `{"auths":{}}`, ""},
		"credential helpers are ignored": {"r.example.org/a:1", `{"credsStore":"x","credHelpers":{"r.example.org":"x"}}`, ""},
		"errors elsewhere don't matter":  {"r.example.org/a:1", `{"auths":{"r.example.org":` + mine + `,"other":{"auth":"?"},"another":5}}`, "mine"},
	} {
		t.Run(name, func(t *testing.T) {
			reference, err := registry.ParseReference(test.reference)
			require.NoError(t, err)
			for range 30 {
				found, err := credentialFor(reference, []byte(test.config))
				require.NoError(t, err)
				assert.Equal(t, test.user, found.Username)
			}
		})
	}

	reference, err := registry.ParseReference("r.example.org/a:1")
	require.NoError(t, err)
	found, err := credentialFor(reference, []byte(`{"auths":{"r.example.org":{"identitytoken":"i","registrytoken":"r"}}}`))
	require.NoError(t, err)
	assert.Equal(t, auth.Credential{RefreshToken: "i", AccessToken: "r"}, found)
	found, err = credentialFor(reference, []byte(`{"auths":{"r.example.org":{"auth":"bWluZTpwOnE="}}}`))
	require.NoError(t, err)
	assert.Equal(t, auth.Credential{Username: "mine", Password: "p:q"}, found)
}

func TestCredentialFor_Invalid(t *testing.T) {
	const where = "chart r.example.org/a:1 cannot be pulled: the docker config of the pull secret "
	for name, test := range map[string]struct{ config, message string }{
		"no JSON":            {`secret`, "is malformed"},
		"a list":             {`["secret"]`, "is malformed"},
		"a text":             {`{"auths":{"r.example.org":"secret"}}`, `is malformed at "r.example.org": auth must be user:password in base64`},
		"no base64":          {`{"auths":{"r.example.org":{"auth":"secret!"}}}`, `is malformed at "r.example.org": auth must be user:password in base64`},
		"no colon":           {`{"auths":{"r.example.org":{"auth":"c2VjcmV0"}}}`, `is malformed at "r.example.org": auth must be user:password in base64`},
		"no password":        {`{"auths":{"r.example.org":{"username":"secret"}}}`, `has a user without password at "r.example.org", or the other way round`},
		"an encoded no user": {`{"auths":{"r.example.org":{"auth":"OnNlY3JldA=="}}}`, `has a user without password at "r.example.org", or the other way round`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := (&Puller{}).Pull(t.Context(), Artifact{Reference: "r.example.org/a:1", DockerConfig: []byte(test.config)})
			assertProblem(t, err, problem.OCIChartCannotBePulled, where+test.message)
			assert.NotContains(t, err.Error(), "secret!")
			assert.NotContains(t, err.Error(), "'secret'")
		})
	}
}

package chart

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
)

// credentialFor returns the credential in a docker config for a repository; the empty credential if there is none. No error quotes the config, which is secret.
func credentialFor(reference registry.Reference, dockerConfig []byte) (auth.Credential, error) {
	if len(dockerConfig) == 0 {
		return auth.EmptyCredential, nil
	}
	var config struct {
		Auths map[string]json.RawMessage `json:"auths"`
	}
	if err := json.Unmarshal(dockerConfig, &config); err != nil {
		return auth.EmptyCredential, pullProblem(reference.String(), "the docker config of the pull secret is malformed")
	}
	entry, there := bestEntry(reference, slices.Sorted(maps.Keys(config.Auths)))
	if !there {
		return auth.EmptyCredential, nil
	}
	// Only this entry is decoded, so malformed other entries do not matter.
	one, err := json.Marshal(map[string]any{"auths": map[string]json.RawMessage{reference.Registry: config.Auths[entry]}})
	if err != nil {
		return auth.EmptyCredential, pullProblem(reference.String(), "the docker config of the pull secret is malformed at %q", entry)
	}
	store, err := credentials.NewMemoryStoreFromDockerConfig(one)
	if err != nil {
		return auth.EmptyCredential, pullProblem(reference.String(),
			"the docker config of the pull secret is malformed at %q: auth must be user:password in base64", entry)
	}
	credential, err := store.Get(context.Background(), reference.Registry)
	if err != nil {
		return auth.EmptyCredential, pullProblem(reference.String(), "the docker config of the pull secret cannot be read at %q", entry)
	}
	hasToken := credential.RefreshToken != "" || credential.AccessToken != ""
	if !hasToken && (credential.Username == "") != (credential.Password == "") {
		return auth.EmptyCredential, pullProblem(reference.String(),
			"the docker config of the pull secret has a user without password at %q, or the other way round", entry)
	}
	return credential, nil
}

// bestEntry selects among the keys of a docker config, which are hosts, with or without scheme, port and path.
func bestEntry(reference registry.Reference, keys []string) (best string, there bool) {
	const otherPath, noPath = 1, 2
	rank := 0
	for _, key := range keys {
		host, path := hostAndPath(key)
		if host != canonical(reference.Registry) {
			continue
		}
		this := otherPath
		switch {
		case path == "" || path == "v1" || path == "v2":
			this = noPath
		case strings.HasPrefix(reference.Repository+"/", path+"/"):
			this = noPath + len(path)
		}
		if this > rank {
			best, rank = key, this
		}
	}
	return best, rank > 0
}

func hostAndPath(key string) (host, path string) {
	if _, rest, hasScheme := strings.Cut(key, "://"); hasScheme {
		key = rest
	}
	host, path, _ = strings.Cut(key, "/")
	return canonical(host), strings.Trim(path, "/")
}

// canonical removes the default port of HTTPS, and unifies the names of Docker Hub.
func canonical(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ":443")
	if host == "index.docker.io" || host == "registry-1.docker.io" {
		return "docker.io"
	}
	return host
}

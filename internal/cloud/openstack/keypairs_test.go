package openstack_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack"
)

func TestSession_CreateKeyPair_Forbidden(t *testing.T) {
	two := `{"keypairs": [{"keypair": {"name": "a"}}, {"keypair": {"name": "b"}}]}`
	for name, tc := range map[string]struct {
		quota, existing http.HandlerFunc
		want            cloud.Kind
	}{
		"the quota is used up":       {status(200, `{"quota_set": {"key_pairs": 2}}`), status(200, two), cloud.QuotaExceeded},
		"there is room in the quota": {status(200, `{"quota_set": {"key_pairs": 3}}`), status(200, two), cloud.Unauthorized},
		"there is no limit":          {status(200, `{"quota_set": {"key_pairs": -1}}`), status(200, two), cloud.Unauthorized},
		"the limit is not told":      {status(200, `{"quota_set": {}}`), status(200, two), cloud.Unauthorized},
		"the limit is a secret":      {status(403, `{}`), status(200, two), cloud.Unauthorized},
		"the key pairs are a secret": {status(200, `{"quota_set": {"key_pairs": 2}}`), status(403, `{}`), cloud.Unauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			stub := &stubCloud{endpoints: allServices(), serve: func(w http.ResponseWriter, req *http.Request) {
				switch {
				case req.Method == http.MethodPost:
					reply(w, 403, novaFault("forbidden"))
				case strings.HasSuffix(req.URL.Path, "/os-quota-sets/project-1"):
					tc.quota(w, req)
				default:
					tc.existing(w, req)
				}
			}}
			_, err := stub.session(t, openstack.Options{}).CreateKeyPair(t.Context(), "c", "key")
			assert.Equal(t, tc.want, cloud.KindOf(err))
			assert.ErrorContains(t, err, "as Nova says")
		})
	}
}

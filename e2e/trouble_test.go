package e2e

import (
	"net/http"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// trouble is something that goes wrong in the cloud while an Infrastructure is created.
type trouble struct {
	begin, end func(*testing.T, *fake.Cloud)
	// code is what users and gardenlet are told; none when the trouble is expected to pass by itself.
	code gardencorev1beta1.ErrorCode
	// needsPerson says that the controller does not try again soon: somebody has to act, and gardenlet then orders anew.
	needsPerson bool
}

func troubles() map[string]trouble {
	createNetwork := wire.Match{Service: wire.Neutron, Method: http.MethodPost, Path: "/v2.0/networks"}
	answer := func(status int, retryAfter time.Duration) func(*testing.T, *fake.Cloud) {
		return func(_ *testing.T, cloud *fake.Cloud) {
			cloud.Inject(wire.Fault{Match: createNetwork, Times: -1, Status: status, RetryAfter: retryAfter})
		}
	}
	clearFaults := func(_ *testing.T, cloud *fake.Cloud) { cloud.ClearFaults() }
	networks := func(quota int) func(*testing.T, *fake.Cloud) {
		return func(t *testing.T, cloud *fake.Cloud) {
			require.NoError(t, cloud.SetQuota(fake.DefaultProject, "network", quota))
		}
	}
	password := func(password string) func(*testing.T, *fake.Cloud) {
		return func(t *testing.T, cloud *fake.Cloud) {
			require.NoError(t, cloud.SetPassword(fake.DefaultUser, password))
		}
	}
	return map[string]trouble{
		"the quota is exhausted":         {begin: networks(0), end: networks(fake.Unlimited), code: gardencorev1beta1.ErrorInfraQuotaExceeded, needsPerson: true},
		"the password was changed (401)": {begin: password("changed"), end: password(fake.DefaultPassword), code: gardencorev1beta1.ErrorInfraUnauthenticated, needsPerson: true},
		"the user may not do that (403)": {begin: answer(http.StatusForbidden, 0), end: clearFaults, code: gardencorev1beta1.ErrorInfraUnauthorized, needsPerson: true},
		"the cloud is throttling (429)":  {begin: answer(http.StatusTooManyRequests, time.Second), end: clearFaults},
		"the cloud is down (503)":        {begin: answer(http.StatusServiceUnavailable, 0), end: clearFaults, code: gardencorev1beta1.ErrorRetryableInfraDependencies},
	}
}

// testTrouble makes the cloud refuse, reads what the controller makes of it, and mends the cloud.
func (l *landscape) testTrouble(t *testing.T) {
	names := 0
	for sentence, trouble := range troubles() {
		names++
		name := "trouble-" + string(rune('a'+names))
		t.Run(sentence, func(t *testing.T) {
			w := l.newWorld(t)
			before := inventory(w.cloud)
			w.startController()
			shoot := w.shoot(name)
			trouble.begin(t, w.cloud)
			w.order(shoot)
			trouble.check(t, w.waitFor(shoot, "the trouble is reported", func(object *extensionsv1alpha1.Infrastructure) bool {
				return object.Status.LastError != nil
			}))

			trouble.end(t, w.cloud)
			if trouble.needsPerson {
				w.order(shoot)
			}
			w.waitHealthy(shoot)
			w.destroy(shoot)
			assert.Equal(t, before, inventory(w.cloud))
		})
	}
}

func (c trouble) check(t *testing.T, object *extensionsv1alpha1.Infrastructure) {
	t.Helper()
	reported := object.Status.LastError
	t.Log(reported.Description)
	if c.code == "" {
		assert.Empty(t, reported.Codes)
	} else {
		assert.Equal(t, []gardencorev1beta1.ErrorCode{c.code}, reported.Codes)
	}
	assert.Equal(t, c.needsPerson, v1beta1helper.HasNonRetryableErrorCode(*reported), "gardenlet gives up only when a person must act")
}

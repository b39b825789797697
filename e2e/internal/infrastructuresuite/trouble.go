package infrastructuresuite

import (
	"fmt"
	"maps"
	"net/http"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/rig"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// trouble is something that goes wrong while an Infrastructure is created.
type trouble struct {
	begin, end func(*rig.World, *gardenlet.Shoot)
	// code is what users and gardenlet are told; none when the trouble is expected to pass by itself.
	code gardencorev1beta1.ErrorCode
	// says is part of the message.
	says string
	// needsPerson says that the controller does not try again soon: somebody has to act, and gardenlet then orders anew.
	needsPerson bool
}

func troubles() map[string]trouble {
	return map[string]trouble{
		"the quota of networks is exhausted": {
			begin: quota("network", 0), end: quotaLifted,
			code: gardencorev1beta1.ErrorInfraQuotaExceeded, says: "network", needsPerson: true,
		},
		"the quota of routers is exhausted, in the middle of a creation": {
			begin: quota("router", 0), end: quotaLifted,
			code: gardencorev1beta1.ErrorInfraQuotaExceeded, says: "router", needsPerson: true,
		},
		"the password is wrong (401)": {
			begin: password("guessed"), end: func(w *rig.World, shoot *gardenlet.Shoot) { password(w.Account.Password)(w, shoot) },
			code: gardencorev1beta1.ErrorInfraUnauthenticated, needsPerson: true,
		},
		"the user may not do that (403)": {
			begin: refusal(http.StatusForbidden, 0), end: noRefusal,
			code: gardencorev1beta1.ErrorInfraUnauthorized, needsPerson: true,
		},
		"the cloud is throttling (429)": {begin: refusal(http.StatusTooManyRequests, time.Second), end: noRefusal},
		"the cloud is down (503)": {
			begin: refusal(http.StatusServiceUnavailable, 0), end: noRefusal, code: gardencorev1beta1.ErrorRetryableInfraDependencies,
		},
	}
}

// quota limits how many of a kind the account may have, as an operator does.
func quota(kind string, limit int) func(*rig.World, *gardenlet.Shoot) {
	return func(w *rig.World, _ *gardenlet.Shoot) {
		w.Operate(http.MethodPut, conformance.Network, "/v2.0/quotas/"+w.Account.ProjectID, rig.Body{"quota": rig.Body{kind: limit}})
	}
}

func quotaLifted(w *rig.World, _ *gardenlet.Shoot) {
	w.Operate(http.MethodDelete, conformance.Network, "/v2.0/quotas/"+w.Account.ProjectID, nil)
}

func password(word string) func(*rig.World, *gardenlet.Shoot) {
	return func(w *rig.World, shoot *gardenlet.Shoot) {
		shoot.Credentials = maps.Clone(shoot.Credentials)
		shoot.Credentials["password"] = []byte(word)
		w.Update(shoot)
	}
}

// refusal makes the cloud refuse networks.
func refusal(status int, retryAfter time.Duration) func(*rig.World, *gardenlet.Shoot) {
	createNetwork := wire.Match{Service: wire.Neutron, Method: http.MethodPost, Path: "/v2.0/networks"}
	return func(w *rig.World, _ *gardenlet.Shoot) {
		w.Cloud.Inject(wire.Fault{Match: createNetwork, Times: -1, Status: status, RetryAfter: retryAfter})
	}
}

func noRefusal(w *rig.World, _ *gardenlet.Shoot) { w.Cloud.ClearFaults() }

// testTrouble makes the cloud refuse, reads what the controller makes of it, and mends the cloud.
func testTrouble(t *testing.T, r *rig.Rig) {
	names := 0
	for sentence, trouble := range troubles() {
		names++
		name := fmt.Sprintf("trouble-%d", names)
		t.Run(sentence, func(t *testing.T) {
			w := r.NewWorld(t)
			w.StartController()
			shoot := w.Shoot(name)
			trouble.begin(w, shoot)
			w.Order(shoot)
			trouble.check(t, w.WaitForError(shoot))

			trouble.end(w, shoot)
			if trouble.needsPerson {
				w.Order(shoot)
			}
			w.WaitHealthy(shoot)
			assertOneOfEach(w)
			w.Destroy(shoot)
			assertEmpty(w)
		})
	}
}

func (c trouble) check(t *testing.T, object *extensionsv1alpha1.Infrastructure) {
	t.Helper()
	reported := object.Status.LastError
	t.Log(reported.Description)
	assert.Contains(t, reported.Description, c.says)
	if c.code == "" {
		assert.Empty(t, reported.Codes)
	} else {
		assert.Equal(t, []gardencorev1beta1.ErrorCode{c.code}, reported.Codes)
	}
	assert.Equal(t, c.needsPerson, v1beta1helper.HasNonRetryableErrorCode(*reported), "gardenlet gives up only when a person must act")
}

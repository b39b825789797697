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
	"github.com/trellis-garden/trellis/e2e/internal/testenv"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// cloudFailure is a failure of the cloud while an Infrastructure is created.
type cloudFailure struct {
	begin, end func(*testenv.Env, *gardenlet.Shoot)
	// code is the error code that is reported; none if the failure is expected to be transient.
	code gardencorev1beta1.ErrorCode
	// message is part of the message.
	message string
	// needsUserAction is true if the controller does not retry soon: a user has to act, after which gardenlet requests a reconciliation.
	needsUserAction bool
}

func cloudFailures() map[string]cloudFailure {
	return map[string]cloudFailure{
		"the quota of networks is exhausted": {
			begin: quota("network", 0), end: resetQuota,
			code: gardencorev1beta1.ErrorInfraQuotaExceeded, message: "network", needsUserAction: true,
		},
		"the quota of routers is exhausted, in the middle of a creation": {
			begin: quota("router", 0), end: resetQuota,
			code: gardencorev1beta1.ErrorInfraQuotaExceeded, message: "router", needsUserAction: true,
		},
		"the password is wrong (401)": {
			begin: password("guessed"), end: func(env *testenv.Env, shoot *gardenlet.Shoot) { password(env.Account.Password)(env, shoot) },
			code: gardencorev1beta1.ErrorInfraUnauthenticated, needsUserAction: true,
		},
		"the user may not do that (403)": {
			begin: refusal(http.StatusForbidden, 0), end: clearRefusal,
			code: gardencorev1beta1.ErrorInfraUnauthorized, needsUserAction: true,
		},
		"the cloud is throttling (429)": {begin: refusal(http.StatusTooManyRequests, time.Second), end: clearRefusal},
		"the cloud is down (503)": {
			begin: refusal(http.StatusServiceUnavailable, 0), end: clearRefusal, code: gardencorev1beta1.ErrorRetryableInfraDependencies,
		},
	}
}

// quota limits how many resources of a kind the account may have, as an operator of the cloud does.
func quota(kind string, limit int) func(*testenv.Env, *gardenlet.Shoot) {
	return func(env *testenv.Env, _ *gardenlet.Shoot) {
		env.DoAsOperator(http.MethodPut, conformance.Network, "/v2.0/quotas/"+env.Account.ProjectID, testenv.Body{"quota": testenv.Body{kind: limit}})
	}
}

func resetQuota(env *testenv.Env, _ *gardenlet.Shoot) {
	env.DoAsOperator(http.MethodDelete, conformance.Network, "/v2.0/quotas/"+env.Account.ProjectID, nil)
}

func password(word string) func(*testenv.Env, *gardenlet.Shoot) {
	return func(env *testenv.Env, shoot *gardenlet.Shoot) {
		shoot.Credentials = maps.Clone(shoot.Credentials)
		shoot.Credentials["password"] = []byte(word)
		env.Update(shoot)
	}
}

// refusal makes the cloud refuse networks.
func refusal(status int, retryAfter time.Duration) func(*testenv.Env, *gardenlet.Shoot) {
	createNetwork := wire.Match{Service: services.Neutron, Method: http.MethodPost, Path: "/v2.0/networks"}
	return func(env *testenv.Env, _ *gardenlet.Shoot) {
		env.Cloud.Inject(wire.Fault{Match: createNetwork, Times: -1, Status: status, RetryAfter: retryAfter})
	}
}

func clearRefusal(env *testenv.Env, _ *gardenlet.Shoot) { env.Cloud.ClearFaults() }

// testCloudFailures makes the cloud refuse requests, reads what the controller reports, and removes the cause.
func testCloudFailures(t *testing.T, f *testenv.Fixture) {
	names := 0
	for description, failure := range cloudFailures() {
		names++
		name := fmt.Sprintf("trouble-%d", names)
		t.Run(description, func(t *testing.T) {
			env := f.NewEnv(t)
			env.StartController()
			shoot := env.Shoot(name)
			failure.begin(env, shoot)
			env.RequestReconcile(shoot)
			failure.check(t, env.WaitForError(shoot))

			failure.end(env, shoot)
			if failure.needsUserAction {
				env.RequestReconcile(shoot)
			}
			env.WaitHealthy(shoot)
			assertOneOfEach(env)
			env.Destroy(shoot)
			assertEmpty(env)
		})
	}
}

func (c cloudFailure) check(t *testing.T, object *extensionsv1alpha1.Infrastructure) {
	t.Helper()
	reported := object.Status.LastError
	t.Log(reported.Description)
	assert.Contains(t, reported.Description, c.message)
	if c.code == "" {
		assert.Empty(t, reported.Codes)
	} else {
		assert.Equal(t, []gardencorev1beta1.ErrorCode{c.code}, reported.Codes)
	}
	assert.Equal(t, c.needsUserAction, v1beta1helper.HasNonRetryableErrorCode(*reported), "gardenlet gives up only when a person must act")
}

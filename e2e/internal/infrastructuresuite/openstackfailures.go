package infrastructuresuite

import (
	"net/http"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/testenv"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func openStackFailures() map[string]cloudFailure {
	return map[string]cloudFailure{
		"the quota of networks is exhausted": {
			begin: quota("network", 0), end: resetQuota,
			code: gardencorev1beta1.ErrorInfraQuotaExceeded, message: "network", needsUserAction: true,
		},
		"the quota of routers is exhausted, in the middle of a creation": {
			begin: quota("router", 0), end: resetQuota,
			code: gardencorev1beta1.ErrorInfraQuotaExceeded, message: "router", needsUserAction: true,
		},
		wrongCredentials: {
			begin: credential("password", "guessed"), end: resetCredentials,
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
		env.DoAsOperator(http.MethodPut, conformance.Network, "/v2.0/quotas/"+env.Project().ProjectID, testenv.Body{"quota": testenv.Body{kind: limit}})
	}
}

func resetQuota(env *testenv.Env, _ *gardenlet.Shoot) {
	env.DoAsOperator(http.MethodDelete, conformance.Network, "/v2.0/quotas/"+env.Project().ProjectID, nil)
}

// refusal makes the cloud refuse networks.
func refusal(status int, retryAfter time.Duration) func(*testenv.Env, *gardenlet.Shoot) {
	createNetwork := wire.Match{Service: services.Neutron, Method: http.MethodPost, Path: "/v2.0/networks"}
	return func(env *testenv.Env, _ *gardenlet.Shoot) {
		env.Cloud.Inject(wire.Fault{Match: createNetwork, Times: -1, Status: status, RetryAfter: retryAfter})
	}
}

func clearRefusal(env *testenv.Env, _ *gardenlet.Shoot) { env.Cloud.ClearFaults() }

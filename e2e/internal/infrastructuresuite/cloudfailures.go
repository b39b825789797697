package infrastructuresuite

import (
	"fmt"
	"maps"
	"testing"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/e2e/internal/aws"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/testenv"
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

// wrongCredentials is the failure of each provider that testForceDelete needs, too.
const wrongCredentials = "the credentials are wrong"

// cloudFailures are the failures of a provider, by their descriptions.
func cloudFailures(providerType string) map[string]cloudFailure {
	return map[string]map[string]cloudFailure{openstack.Type: openStackFailures(), aws.Type: awsFailures()}[providerType]
}

// credential changes a field of the shoot's credentials.
func credential(key, value string) func(*testenv.Env, *gardenlet.Shoot) {
	return func(env *testenv.Env, shoot *gardenlet.Shoot) {
		shoot.Credentials = maps.Clone(shoot.Credentials)
		shoot.Credentials[key] = []byte(value)
		env.Update(shoot)
	}
}

// resetCredentials gives the shoot the credentials of the account.
func resetCredentials(env *testenv.Env, shoot *gardenlet.Shoot) {
	shoot.Credentials = env.Account.NewShoot(shoot.Name).Credentials
	env.Update(shoot)
}

// testCloudFailures makes the cloud refuse requests, reads what the controller reports, and removes the cause.
func testCloudFailures(t *testing.T, f *testenv.Fixture) {
	names := 0
	for description, failure := range cloudFailures(f.Provider.Type) {
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

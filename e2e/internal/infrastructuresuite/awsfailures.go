package infrastructuresuite

import (
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/aws"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/testenv"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

func awsFailures() map[string]cloudFailure {
	return map[string]cloudFailure{
		"the quota of VPCs is exhausted": {
			begin: awsQuota(fake.QuotaVPCs, 0), end: awsQuota(fake.QuotaVPCs, 5),
			code: gardencorev1beta1.ErrorInfraQuotaExceeded, message: "VpcLimitExceeded", needsUserAction: true,
		},
		"the quota of elastic IPs is exhausted, in the middle of a creation": {
			begin: awsQuota(fake.QuotaAddresses, 0), end: awsQuota(fake.QuotaAddresses, 5),
			code: gardencorev1beta1.ErrorInfraQuotaExceeded, message: "AddressLimitExceeded", needsUserAction: true,
		},
		wrongCredentials: {
			begin: credential("secretAccessKey", strings.Repeat("x", 40)), end: resetCredentials,
			code: gardencorev1beta1.ErrorInfraUnauthenticated, needsUserAction: true,
		},
		"the user may not do that": {
			begin: awsDenied("iam:CreateRole"), end: awsDenied(),
			code: gardencorev1beta1.ErrorInfraUnauthorized, message: "AccessDenied", needsUserAction: true,
		},
		"EC2 is throttling": {
			begin: func(env *testenv.Env, _ *gardenlet.Shoot) {
				fault := fake.Throttled(fake.EC2, "CreateVpc")
				fault.Times = -1
				env.Cloud.Inject(fault)
			},
			end: func(env *testenv.Env, _ *gardenlet.Shoot) { env.Cloud.ClearFaults() },
		},
	}
}

// awsQuota limits how many resources of a kind the account may have.
func awsQuota(name string, limit int) func(*testenv.Env, *gardenlet.Shoot) {
	return func(env *testenv.Env, _ *gardenlet.Shoot) { fakeAWS(env).SetQuota(name, limit) }
}

// awsDenied makes policies deny actions.
func awsDenied(actions ...string) func(*testenv.Env, *gardenlet.Shoot) {
	return func(env *testenv.Env, _ *gardenlet.Shoot) { fakeAWS(env).SetDenied(actions...) }
}

func fakeAWS(env *testenv.Env) *fake.Cloud {
	env.T.Helper()
	cloud, is := env.Cloud.(*aws.Cloud)
	require.Truef(env.T, is, "%s is no AWS", env.Cloud.Name())
	return cloud.Cloud
}

package aws

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
)

// What a feature adds to the calls of the default shoot.
func TestDriver_FeatureCalls(t *testing.T) {
	for name, feature := range map[string]struct {
		use                  func(env *environment)
		create, noop, remove []string
	}{
		"an elastic file system": {
			func(env *environment) {
				env.config.ElasticFileSystem = &awsv1alpha1.ElasticFileSystemConfig{Enabled: true}
			},
			[]string{"CreateFileSystem", "CreateMountTarget"},
			[]string{"DescribeFileSystems", "DescribeMountTargets"},
			[]string{"DeleteFileSystem", "DeleteMountTarget", "DescribeFileSystems", "DescribeMountTargets", "DescribeMountTargets"},
		},
		"a given elastic file system": {
			func(env *environment) { env.giveFileSystem() },
			[]string{"CreateMountTarget", "DescribeFileSystems", "DescribeMountTargets"},
			[]string{"DescribeFileSystems", "DescribeMountTargets"},
			[]string{"DeleteMountTarget", "DescribeMountTargets", "DescribeMountTargets"},
		},
		"a gateway endpoint": {
			func(env *environment) { env.config.Networks.VPC.GatewayEndpoints = []string{"s3"} },
			[]string{"CreateVpcEndpoint"},
			[]string{"DescribeVpcEndpoints"},
			[]string{"DeleteVpcEndpoints"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			plain, special := newEnvironment(t), newEnvironment(t)
			feature.use(special)
			for _, step := range []struct {
				name string
				do   func(env *environment)
				want []string
			}{
				{"create", func(env *environment) { env.mustReconcile() }, feature.create},
				{"no-op", func(env *environment) { env.mustReconcile() }, feature.noop},
				{"delete", func(env *environment) { require.NoError(t, env.delete()) }, feature.remove},
			} {
				step.do(plain)
				step.do(special)
				assert.Equal(t, step.want, without(special.calls(), plain.calls()), step.name)
			}
		})
	}
}

// without removes from sorted calls others, each once.
func without(calls, others []string) []string {
	for _, other := range others {
		if i := slices.Index(calls, other); i >= 0 {
			calls = slices.Delete(calls, i, i+1)
		}
	}
	return calls
}

package aws

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
)

const keyFile = "[default]\naws_access_key_id=" + accessKeyID + "\naws_secret_access_key=" + secretKey + "\nregion=eu-west-1"

func TestDriver_CompleteCredentials(t *testing.T) {
	identity := map[string]string{"security.gardener.cloud/purpose": "workload-identity-token-requestor"}
	for sentence, test := range map[string]struct {
		labels map[string]string
		given  map[string][]byte
		// want are the keys that are added or changed; removed those that are not there afterwards.
		want    map[string]string
		removed []string
	}{
		"an access key": {given: accessKey(), want: map[string]string{"credentialsFile": keyFile}},
		"an access key with a region, which is another one": {
			given: merge(accessKey(), map[string]string{"region": "us-east-1"}), want: map[string]string{"credentialsFile": keyFile},
		},
		"an access key with a file of the user's": {
			given: merge(accessKey(), map[string]string{"credentialsFile": "[default]\ncredential_process=/bin/sh", "workloadIdentityTokenFile": "/etc/passwd"}),
			want:  map[string]string{"credentialsFile": keyFile}, removed: []string{"workloadIdentityTokenFile"},
		},
		"an access key that is not complete": {
			given: map[string][]byte{"accessKeyID": []byte(accessKeyID), "credentialsFile": []byte("old")}, removed: []string{"credentialsFile"},
		},
		"a workload identity": {
			labels: identity, given: workloadIdentity(),
			want: map[string]string{
				"roleARN": roleARN, "workloadIdentityTokenFile": "/var/run/secrets/gardener.cloud/workload-identity/token",
				"credentialsFile": "[default]\nweb_identity_token_file=/var/run/secrets/gardener.cloud/workload-identity/token\nrole_arn=" + roleARN + "\nregion=eu-west-1",
			},
		},
		"a workload identity without a token yet, and with another role": {
			labels: identity, given: map[string][]byte{"config": workloadIdentity()["config"], "roleARN": []byte("arn:other")},
			want: map[string]string{
				"roleARN": roleARN, "workloadIdentityTokenFile": "/var/run/secrets/gardener.cloud/workload-identity/token",
				"credentialsFile": "[default]\nweb_identity_token_file=/var/run/secrets/gardener.cloud/workload-identity/token\nrole_arn=" + roleARN + "\nregion=eu-west-1",
			},
		},
		"a workload identity whose configuration cannot be read": {
			labels: identity, given: map[string][]byte{"config": []byte("{"), "roleARN": []byte("arn:other"), "token": []byte("t")}, removed: []string{"roleARN"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			want := maps.Clone(test.given)
			for _, key := range test.removed {
				delete(want, key)
			}
			want = merge(want, test.want)
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Labels: test.labels}, Data: maps.Clone(test.given)}
			for range 2 {
				require.NoError(t, New().CompleteCredentials(secret, awsShoot().Cluster))
				assert.Equal(t, want, secret.Data)
			}
		})
	}
}

func TestDriver_CompleteCredentials_LineBreak(t *testing.T) {
	cluster := awsShoot().Cluster
	cluster.Shoot.Spec.Region = "eu-west-1\n[other]"
	err := New().CompleteCredentials(&corev1.Secret{Data: accessKey()}, cluster)
	require.ErrorContains(t, err, `the value of "region" has a line break`)
	assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
}

func merge(data map[string][]byte, more map[string]string) map[string][]byte {
	result := maps.Clone(data)
	for key, value := range more {
		result[key] = []byte(value)
	}
	return result
}

// renewed is what remains the same while the token of a workload identity is renewed: configs and pods.
func TestDriver_Plan_RenewedToken(t *testing.T) {
	renewed := awsShoot(dualStack, func(shoot *controlplane.Shoot) { shoot.Credentials["token"] = []byte("another") })
	before, after := planOf(t, awsShoot(dualStack)), planOf(t, renewed)
	assert.Equal(t, before.Configs, after.Configs)
	assert.Equal(t, before.Components, after.Components)
	assert.Equal(t, before.CSIDrivers, after.CSIDrivers)
}

func TestDriver_Plan_ChangedAccessKey(t *testing.T) {
	changed := awsShoot(func(shoot *controlplane.Shoot) { shoot.Credentials["accessKeyID"] = []byte("AKIAIOSFODNN7ANOTHER") })
	before, after := planOf(t, awsShoot()), planOf(t, changed)
	assert.NotEqual(t, before.Configs, after.Configs, "a Secret of another name")
	find := func(plan *controlplane.Plan) component.Component {
		i := slices.IndexFunc(plan.Components, isNamed("aws-custom-route-controller"))
		return plan.Components[i]
	}
	assert.NotEqual(t, find(before).PodAnnotations, find(after).PodAnnotations, "it reads the Secret only when it starts")
	for _, config := range before.Configs {
		if config.Name == "cloud-provider-credentials" {
			assert.Equal(t, keyFile, string(config.Files["credentialsFile"]))
		}
	}
}

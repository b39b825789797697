package controlplane

import (
	"fmt"
	"testing"
	"time"

	secretsmanager "github.com/gardener/gardener/pkg/utils/secrets/manager"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestCertificatesFinding(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Date(2026, time.June, 1, 12, 0, 0, 0, time.UTC)
	ca := caName("example")
	// secret is a Secret of age that holds a certificate which ends after left.
	secret := func(name, secretName string, age, left time.Duration) metav1.PartialObjectMetadata {
		return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Name: secretName, CreationTimestamp: metav1.NewTime(now.Add(-age)), Labels: map[string]string{
				secretsmanager.LabelKeyName: name, secretsmanager.LabelKeyValidUntilTime: fmt.Sprint(now.Add(left).Unix()),
			},
		}}
	}
	bundle := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "bundle", Labels: map[string]string{
		secretsmanager.LabelKeyName: ca + "-bundle", secretsmanager.LabelKeyBundleFor: ca,
	}}}
	for sentence, test := range map[string]struct {
		secrets []metav1.PartialObjectMetadata
		healthy bool
		want    string
	}{
		"all end in years": {
			secrets: []metav1.PartialObjectMetadata{secret(ca, "ca-1", day, 3650*day), secret("server", "server-1", day, 3000*day), bundle},
			healthy: true, want: "Of 2 certificates, server ends first, at 2034-08-18T12:00:00Z.",
		},
		"a server certificate ends in fifteen days": {
			secrets: []metav1.PartialObjectMetadata{secret("server", "server-1", day, 15*day)}, healthy: true, want: "server ends first, at 2026-06-16T12:00:00Z",
		},
		"a server certificate ends in thirteen days": {
			secrets: []metav1.PartialObjectMetadata{secret(ca, "ca-1", day, 3650*day), secret("server", "server-1", day, 13*day)},
			want:    "certificate server (Secret server-1) ends at 2026-06-14T12:00:00Z: the next reconciliation of the shoot renews it",
		},
		"a server certificate has ended": {
			secrets: []metav1.PartialObjectMetadata{secret("server", "server-1", day, -day)}, want: "certificate server (Secret server-1) ended at 2026-05-31T12:00:00Z",
		},
		"a server certificate that was renewed": {
			secrets: []metav1.PartialObjectMetadata{secret("server", "server-1", 9*day, day), secret("server", "server-2", day, 3650*day)},
			healthy: true, want: "Of 1 certificates",
		},
		"a CA ends in eighty days": {
			secrets: []metav1.PartialObjectMetadata{secret(ca, "ca-1", day, 80*day), secret("server", "server-1", day, 3650*day)},
			want:    "CA ca-provider-example-controlplane (Secret ca-1) ends at 2026-08-20T12:00:00Z, and is not renewed by reconciliations: rotate the certificate authorities",
		},
		"a CA ends in a hundred days": {
			secrets: []metav1.PartialObjectMetadata{secret(ca, "ca-1", day, 100*day)}, healthy: true, want: "Of 1 certificates",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			certificates, err := newestCertificates(test.secrets, ca)
			require.NoError(t, err)
			finding := certificatesFinding(certificates, now)
			assert.Equal(t, test.healthy, finding.Healthy)
			assert.Contains(t, finding.Message, test.want)
		})
	}
}

func TestNewestCertificates_NoEnd(t *testing.T) {
	secret := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "server-1", Labels: map[string]string{
		secretsmanager.LabelKeyName: "server", secretsmanager.LabelKeyValidUntilTime: "soon",
	}}}
	_, err := newestCertificates([]metav1.PartialObjectMetadata{secret}, "ca")
	assert.ErrorContains(t, err, "reading label valid-until-time of Secret server-1")
}

package landscape_test

import (
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func fields(text string) []string { return strings.Fields(text) }

func bucket(name, seed, typ string) gardencorev1beta1.BackupBucket {
	return gardencorev1beta1.BackupBucket{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       gardencorev1beta1.BackupBucketSpec{SeedName: &seed, Provider: gardencorev1beta1.BackupBucketProvider{Type: typ}},
	}
}

func entry(name, seed, bucket string) gardencorev1beta1.BackupEntry {
	return gardencorev1beta1.BackupEntry{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: name},
		Spec:       gardencorev1beta1.BackupEntrySpec{SeedName: &seed, BucketName: bucket},
	}
}

// resource is written Kind/type, with a leading "~" for a secondary.
func resource(text string) gardencorev1beta1.ControllerResource {
	id, secondary := strings.CutPrefix(text, "~")
	kind, typ, _ := strings.Cut(id, "/")
	result := gardencorev1beta1.ControllerResource{Kind: kind, Type: typ}
	if secondary {
		result.Primary = new(false)
	}
	return result
}

// deployed gives a registration a deployment of its own name.
func deployed(r gardencorev1beta1.ControllerRegistration) gardencorev1beta1.ControllerRegistration {
	r.Spec.Deployment = &gardencorev1beta1.ControllerRegistrationDeployment{
		DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: r.Name}},
	}
	return r
}

func registers(name string, resources string) gardencorev1beta1.ControllerRegistration {
	var all []gardencorev1beta1.ControllerResource
	for text := range strings.FieldsSeq(resources) {
		all = append(all, resource(text))
	}
	return registration(name, all...)
}

// installed is an installation whose conditions Installed, Healthy and Progressing are these: "T", "F" or "-".
func installed(registration, conditions string) gardencorev1beta1.ControllerInstallation {
	i := gardencorev1beta1.ControllerInstallation{
		ObjectMeta: metav1.ObjectMeta{Name: registration + "-x2k4p"},
		Spec: gardencorev1beta1.ControllerInstallationSpec{
			RegistrationRef: corev1.ObjectReference{Name: registration}, SeedRef: &corev1.ObjectReference{Name: "eu1"},
		},
	}
	for n, typ := range []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ControllerInstallationInstalled, gardencorev1beta1.ControllerInstallationHealthy, gardencorev1beta1.ControllerInstallationProgressing,
	} {
		status := gardencorev1beta1.ConditionFalse
		switch conditions[n] {
		case '-':
			continue
		case 'T':
			status = gardencorev1beta1.ConditionTrue
		}
		i.Status.Conditions = append(i.Status.Conditions, gardencorev1beta1.Condition{Type: typ, Status: status})
	}
	return i
}

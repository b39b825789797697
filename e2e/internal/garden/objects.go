package garden

import (
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// Identity is the cluster identity of all gardens: gardener-apiserver gets it from Gardener's package for tests.
	Identity = "envtest"
	// Namespace is the namespace of the project "dev".
	Namespace = "garden-dev"
	// CloudProfile is the only CloudProfile; its provider type has the same name.
	CloudProfile = "openstack"
	// KubernetesVersion is the shoots' version.
	KubernetesVersion = "1.36.3"
	// MachineImage is the shoots' machine image, and so the type of their OperatingSystemConfigs.
	MachineImage = "gardenlinux"

	region, zone        = "RegionOne", "nova"
	machineType         = "m1.small"
	volumeType          = "default"
	machineImageVersion = "1877.3.0"
	credentials         = "openstack"
	// secretWithoutContent is referred to where Gardener requires credentials that are not used.
	secretWithoutContent = "without-content"
)

// baseObjects are the objects of a garden before there are seeds.
func baseObjects() []client.Object {
	return append([]client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "gardener-system-public"}},
		projectNamespace(v1beta1constants.GardenNamespace, v1beta1constants.GardenNamespace),
		project(v1beta1constants.GardenNamespace, v1beta1constants.GardenNamespace),
		projectNamespace(Namespace, "dev"),
		project("dev", Namespace),
		&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "gardener-info", Namespace: "gardener-system-public"},
			Data:       map[string]string{"gardenerAPIServer": "version: " + GardenerVersion + "\n"},
		},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: secretWithoutContent, Namespace: v1beta1constants.GardenNamespace}},
		cloudProfile(),
	}, cloudCredentials(Namespace)...)
}

func projectNamespace(name, project string) client.Object {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		v1beta1constants.GardenRole: v1beta1constants.GardenRoleProject, v1beta1constants.ProjectName: project,
	}}}
}

func project(name, namespace string) client.Object {
	return &gardencorev1beta1.Project{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: gardencorev1beta1.ProjectSpec{
			Namespace: new(namespace),
			Owner:     &rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "admin"},
		},
	}
}

// cloudProfile has the provider type openstack; its content is not used.
func cloudProfile() client.Object {
	return &gardencorev1beta1.CloudProfile{
		ObjectMeta: metav1.ObjectMeta{Name: CloudProfile},
		Spec: gardencorev1beta1.CloudProfileSpec{
			Type:       CloudProfile,
			Kubernetes: gardencorev1beta1.KubernetesSettings{Versions: []gardencorev1beta1.ExpirableVersion{{Version: KubernetesVersion}}},
			MachineImages: []gardencorev1beta1.MachineImage{{
				Name: MachineImage,
				Versions: []gardencorev1beta1.MachineImageVersion{{
					ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: machineImageVersion},
					CRI:              []gardencorev1beta1.CRI{{Name: gardencorev1beta1.CRINameContainerD}},
					Architectures:    []string{v1beta1constants.ArchitectureAMD64},
				}},
			}},
			MachineTypes: []gardencorev1beta1.MachineType{{
				Name: machineType, CPU: resource.MustParse("2"), GPU: resource.MustParse("0"), Memory: resource.MustParse("4Gi"),
				Architecture: new(v1beta1constants.ArchitectureAMD64), Usable: new(true),
			}},
			VolumeTypes: []gardencorev1beta1.VolumeType{{Name: volumeType, Class: "standard", Usable: new(true)}},
			Regions:     []gardencorev1beta1.Region{{Name: region, Zones: []gardencorev1beta1.AvailabilityZone{{Name: zone}}}},
		},
	}
}

func cloudCredentials(namespace string) []client.Object {
	return []client.Object{
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: credentials, Namespace: namespace},
			StringData: map[string]string{"domainName": "d", "tenantName": "t", "username": "u", "password": "p"},
		},
		&securityv1alpha1.CredentialsBinding{
			ObjectMeta:     metav1.ObjectMeta{Name: credentials, Namespace: namespace},
			Provider:       securityv1alpha1.CredentialsBindingProvider{Type: CloudProfile},
			CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Name: credentials, Namespace: namespace},
		},
	}
}

// admissionTimeout bounds the delay of the caches of gardener-apiserver's admission plugins.
const admissionTimeout = 5 * time.Second

package openstack

import (
	"maps"
	"slices"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/controlplane/csi"
	"github.com/trellis-garden/trellis/internal/controlplane/rbac"
)

const (
	manilaClass = "csi-manila-nfs"
	// manilaLogin is the name of the Secret with the driver's credentials, manilaLoginRole of the role for reading it.
	manilaLogin     = "manila-csi-plugin"
	manilaLoginRole = rolePrefix + "csi-manila-secret"
)

// manilaShootObjects are the driver's objects in the shoot: credentials, permission of its sidecars to read them, and classes. The classes are here since
// upstream's extension has them in the ManagedResource of components: they would be deleted if they were moved to that of classes. None is the default,
// so there is no user's choice to be respected.
func (in *inputs) manilaShootObjects() ([]client.Object, error) {
	if !in.hasManila() {
		return nil, nil
	}
	data, err := in.manilaSecret()
	if err != nil {
		return nil, err
	}
	objects := []client.Object{
		// Its name is written into volumes, so it does not change with the content. It is read with each request.
		&corev1.Secret{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: metav1.ObjectMeta{Name: manilaLogin, Namespace: metav1.NamespaceSystem},
			Type:       corev1.SecretTypeOpaque,
			Data:       data,
		},
		rbac.Role(manilaLoginRole, []rbacv1.PolicyRule{rbac.NamedRule("", "secrets", []string{manilaLogin}, "get")}),
		rbac.RoleBinding(manilaLoginRole, manilaLoginRole,
			rbac.Subject(accountProvisioner), rbac.Subject(accountResizer), rbac.Subject(accountSnapshotter)),
		in.manilaStorageClass(manilaClass, nil),
		in.manilaStorageClass(manilaClass+"-auto", map[string]string{"autoTopology": "true"}),
	}
	for _, zone := range in.zones {
		if name := manilaClass + "-" + zone; isObjectName(name) {
			objects = append(objects, in.manilaStorageClass(name, map[string]string{"availability": zone}))
		}
	}
	return append(objects, manilaSnapshotClass()), nil
}

// zonesWithoutClass are those whose names cannot be part of an object's. The API server would refuse the object, and with it all objects for the shoot.
func (in *inputs) zonesWithoutClass() []string {
	return slices.DeleteFunc(slices.Clone(in.zones), func(zone string) bool { return isObjectName(manilaClass + "-" + zone) })
}

func isObjectName(name string) bool { return len(validation.IsDNS1123Subdomain(name)) == 0 }

// manilaStorageClass creates shares in the shoot's share network that only nodes may mount.
func (in *inputs) manilaStorageClass(name string, more map[string]string) *storagev1.StorageClass {
	parameters := map[string]string{
		"type":            "default",
		"nfs-shareClient": in.nodeRange,
	}
	if network := in.infrastructure.Networks.ShareNetwork; network != nil {
		parameters["shareNetworkID"] = network.ID
	}
	for _, call := range []string{"provisioner", "node-stage", "node-publish", "controller-expand"} {
		maps.Copy(parameters, manilaLoginFor(call))
	}
	maps.Copy(parameters, more)
	return &storagev1.StorageClass{
		TypeMeta:             metav1.TypeMeta{APIVersion: storagev1.SchemeGroupVersion.String(), Kind: "StorageClass"},
		ObjectMeta:           metav1.ObjectMeta{Name: name, Annotations: map[string]string{resourcesv1alpha1.DeleteOnInvalidUpdate: "true"}},
		Provisioner:          manilaDriver,
		Parameters:           parameters,
		MountOptions:         []string{"nfsvers=4.1"},
		AllowVolumeExpansion: new(true),
		VolumeBindingMode:    new(storagev1.VolumeBindingWaitForFirstConsumer),
	}
}

func manilaSnapshotClass() client.Object {
	class := csi.SnapshotClass{Name: manilaClass, Driver: manilaDriver, DeletionPolicy: "Delete", Parameters: manilaLoginFor("snapshotter")}.Object()
	class.SetAnnotations(map[string]string{resourcesv1alpha1.DeleteOnInvalidUpdate: "true"})
	return class
}

// manilaLoginFor sets the Secret for a kind of request.
func manilaLoginFor(call string) map[string]string {
	return map[string]string{
		"csi.storage.k8s.io/" + call + "-secret-name":      manilaLogin,
		"csi.storage.k8s.io/" + call + "-secret-namespace": metav1.NamespaceSystem,
	}
}

package main

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/tree"
)

// showSeed prints the Deployments in the seed with their images, and the Secrets that their pods mount.
func (d *demo) showSeed(ctx context.Context) error {
	deployments, secrets := &appsv1.DeploymentList{}, &corev1.SecretList{}
	for _, list := range []client.ObjectList{deployments, secrets} {
		if err := d.Source.Client.List(ctx, list, client.InNamespace(d.shoot.Namespace())); err != nil {
			return err
		}
	}
	byName := map[string]*corev1.Secret{}
	for i := range secrets.Items {
		byName[secrets.Items[i].Name] = &secrets.Items[i]
	}
	for _, deployment := range deployments.Items {
		if deployment.Name == v1beta1constants.DeploymentNameKubeAPIServer {
			continue
		}
		for _, line := range drawDeployment(deployment, byName) {
			d.screen.Linef("  %s", line)
		}
	}
	return nil
}

func drawDeployment(deployment appsv1.Deployment, secrets map[string]*corev1.Secret) []string {
	spec := deployment.Spec.Template.Spec
	var below, images []string
	for _, container := range spec.Containers {
		images = append(images, path.Base(container.Image))
	}
	below = append(below, slices.Compact(images)...)
	for _, name := range mountedSecrets(spec.Volumes) {
		if secret := secrets[name]; secret != nil {
			below = append(below, describe(secret))
		}
	}
	below = slices.DeleteFunc(below, func(line string) bool { return line == "" })
	return tree.List(deployment.Name+"  Deployment", below)
}

// mountedSecrets lists the Secrets in volumes, each once.
func mountedSecrets(volumes []corev1.Volume) []string {
	names := map[string]bool{}
	for _, volume := range volumes {
		if volume.Secret != nil {
			names[volume.Secret.SecretName] = true
		}
		if volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			if source.Secret != nil {
				names[source.Secret.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// describe describes a mounted Secret; empty for the generic kubeconfig, which all pods mount.
func describe(secret *corev1.Secret) string {
	account, isAccess := secret.Annotations[resourcesv1alpha1.ServiceAccountName]
	certificate, isCertificate := secret.Data[corev1.TLSCertKey]
	switch {
	case isAccess:
		return fmt.Sprintf("%s  token of ServiceAccount %s in the shoot", secret.Name, account)
	case isCertificate:
		return fmt.Sprintf("%s  certificate%s", secret.Name, expiry(certificate))
	case secret.Data["kubeconfig"] != nil:
		return ""
	default:
		return fmt.Sprintf("%s  configuration: %s", secret.Name, strings.Join(slices.Sorted(maps.Keys(secret.Data)), ", "))
	}
}

// expiry describes the validity of a certificate, and its issuer.
func expiry(pem []byte) string {
	chain, err := cert.ParseCertsPEM(pem)
	if err != nil {
		return ", which is broken: " + err.Error()
	}
	return fmt.Sprintf(" by %s, until %s", chain[0].Issuer.CommonName, chain[0].NotAfter.Format("2006-01-02"))
}

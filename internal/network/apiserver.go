package network

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// apiServerHost prefers the name under which users know the shoot.
func apiServerHost(shoot *gardencorev1beta1.Shoot) string {
	hosts := advertisedHosts(shoot)
	if host := hosts[v1beta1constants.AdvertisedAddressExternal]; host != "" {
		return host
	}
	return hosts[v1beta1constants.AdvertisedAddressInternal]
}

func advertisedHosts(shoot *gardencorev1beta1.Shoot) map[string]string {
	hosts := map[string]string{}
	for _, address := range shoot.Status.AdvertisedAddresses {
		if parsed, err := url.Parse(address.URL); err == nil {
			hosts[address.Name] = parsed.Hostname()
		}
	}
	return hosts
}

// apiServerAddresses returns what Gardener writes into the DNS for the kube-apiserver, and the address of one whose DNS is not
// Gardener's. Names that lead to other names are left out: nobody looks them up here.
func apiServerAddresses(ctx context.Context, reader client.Reader, namespace string, shoot *gardencorev1beta1.Shoot) ([]netip.Addr, error) {
	records := &extensionsv1alpha1.DNSRecordList{}
	ofControlPlane := client.MatchingLabels{v1beta1constants.GardenRole: v1beta1constants.GardenRoleControlPlane}
	if err := reader.List(ctx, records, client.InNamespace(namespace), ofControlPlane); err != nil {
		return nil, fmt.Errorf("listing the DNSRecords of the kube-apiserver: %w", err)
	}
	hosts := []string{advertisedHosts(shoot)[v1beta1constants.AdvertisedAddressUnmanaged]}
	for _, record := range records.Items {
		switch record.Labels[v1beta1constants.LabelRole] {
		case v1beta1constants.LabelDNSRecordInternal, v1beta1constants.LabelDNSRecordExternal:
			hosts = append(hosts, record.Spec.Values...)
		}
	}
	var addresses []netip.Addr
	for _, host := range hosts {
		if address, err := netip.ParseAddr(host); err == nil {
			addresses = append(addresses, address)
		}
	}
	slices.SortFunc(addresses, netip.Addr.Compare)
	return slices.Compact(addresses), nil
}

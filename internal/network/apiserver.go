package network

import (
	"cmp"
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

// apiServerPort is the port of the kube-apiservers of all shoots at their host names: Gardener routes by names.
const apiServerPort = 443

// apiServer is the address at which the kube-apiserver of a shoot is reached without any Service.
type apiServer struct {
	// host is Shoot.APIServerHost.
	host string
	// addresses are Shoot.APIServerAddresses.
	addresses []netip.Addr
}

// readAPIServer reads the addresses that the shoot's status advertises and the DNSRecords: a Cluster may lack the former while the latter exist. Host
// names that are aliases (CNAME) give no addresses, since nothing is looked up in the DNS.
func readAPIServer(ctx context.Context, reader client.Reader, namespace string, shoot *gardencorev1beta1.Shoot) (apiServer, error) {
	records := &extensionsv1alpha1.DNSRecordList{}
	ofControlPlane := client.MatchingLabels{v1beta1constants.GardenRole: v1beta1constants.GardenRoleControlPlane}
	if err := reader.List(ctx, records, client.InNamespace(namespace), ofControlPlane); err != nil {
		return apiServer{}, fmt.Errorf("listing the DNSRecords of the kube-apiserver: %w", err)
	}
	advertised := advertisedHosts(shoot)
	hosts := []string{advertised[v1beta1constants.AdvertisedAddressUnmanaged]}
	names := map[string]string{}
	for _, record := range records.Items {
		switch role := record.Labels[v1beta1constants.LabelRole]; role {
		case v1beta1constants.LabelDNSRecordInternal, v1beta1constants.LabelDNSRecordExternal:
			hosts = append(hosts, record.Spec.Values...)
			names[role] = record.Spec.Name
		}
	}
	return apiServer{
		// The host name that users know comes first.
		host: cmp.Or(
			advertised[v1beta1constants.AdvertisedAddressExternal], advertised[v1beta1constants.AdvertisedAddressInternal],
			names[v1beta1constants.LabelDNSRecordExternal], names[v1beta1constants.LabelDNSRecordInternal],
		),
		addresses: parseAddresses(hosts),
	}, nil
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

// parseAddresses returns those hosts that are IP addresses, sorted and without duplicates.
func parseAddresses(hosts []string) []netip.Addr {
	var addresses []netip.Addr
	for _, host := range hosts {
		if address, err := netip.ParseAddr(host); err == nil {
			addresses = append(addresses, address)
		}
	}
	slices.SortFunc(addresses, netip.Addr.Compare)
	return slices.Compact(addresses)
}

package conformance

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// environment is what a cloud's operator provides and the behaviours use.
type environment struct {
	external Object
	// ranges are those of the external network. Addresses in them are the cloud's choice.
	ranges []netip.Prefix
}

// readEnvironment reads what the tests need to know of the cloud. The error names all that is missing, in a sentence each.
func readEnvironment(ctx context.Context, t *Tenant) (environment, error) {
	var found environment
	var missing []string
	name := t.client.cloud.ExternalNetwork
	networks, err := t.DoAsMember(ctx, http.MethodGet, Network, "/v2.0/networks?router:external=true&name="+name, nil)
	if err != nil {
		return found, err
	}
	if all := networks.Objects("networks"); len(all) != 1 {
		missing = append(missing, fmt.Sprintf("there are %d external networks called %q instead of one; %s names another", len(all), name, ExternalNetworkVariable))
	} else if found, err = readExternalNetwork(ctx, t, all[0]); err != nil {
		return found, err
	}
	if found.external != nil && len(found.ranges) != 2 {
		missing = append(missing, fmt.Sprintf("the external network %q has %d IPv4 subnets instead of two", name, len(found.ranges)))
	}
	for _, need := range []struct {
		service   Service
		path, key string
		name      string
	}{
		{Compute, "/v2.1/flavors", "flavors", tinyFlavor},
		{Image, "/v2/images", "images", tinyImage},
	} {
		list, err := t.DoAsMember(ctx, http.MethodGet, need.service, need.path, nil)
		if err != nil {
			return found, err
		}
		if !slices.ContainsFunc(list.Objects(need.key), func(o Object) bool { return o.Text("name") == need.name }) {
			missing = append(missing, fmt.Sprintf("there is nothing called %q among the %s", need.name, need.key))
		}
	}
	if len(missing) > 0 {
		return found, fmt.Errorf("the behaviours cannot be tried on cloud %q: %s", t.client.cloud.Name, strings.Join(missing, "; "))
	}
	return found, nil
}

// readExternalNetwork reads the ranges of the external network, of which a plain member sees the IDs only.
func readExternalNetwork(ctx context.Context, t *Tenant, external Object) (environment, error) {
	found := environment{external: external}
	subnets, err := t.DoAsOperator(ctx, http.MethodGet, Network, "/v2.0/subnets?ip_version=4&network_id="+external.ID(), nil)
	if err != nil {
		return found, err
	}
	for _, subnet := range subnets.Objects("subnets") {
		prefix, err := netip.ParsePrefix(subnet.Text("cidr"))
		if err != nil {
			return found, fmt.Errorf("reading the range of external subnet %s: %w", subnet.ID(), err)
		}
		found.ranges = append(found.ranges, prefix)
	}
	return found, nil
}

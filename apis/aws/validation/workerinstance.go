package validation

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/internal/fields"
)

// The limits of hops, threads and indices.
const (
	maxHops    = 64
	maxThreads = 2
	maxIndex   = math.MaxInt32
)

// MaxInterfaces is the number of interfaces that one entry of networkInterfaces may describe: each index of a range becomes one. No machine has nearly as many
// network cards.
const MaxInterfaces = 1000

func validateInstanceMetadata(options *v1alpha1.InstanceMetadataOptions, path *field.Path) field.ErrorList {
	if options == nil {
		return nil
	}
	errs := validateChoice(options.HTTPTokens, []string{v1alpha1.HTTPTokensRequired, v1alpha1.HTTPTokensOptional}, path.Child("httpTokens"))
	if hops := options.HTTPPutResponseHopLimit; hops != nil && (*hops < 1 || *hops > maxHops) {
		errs = append(errs, field.Invalid(path.Child("httpPutResponseHopLimit"), *hops, fmt.Sprintf("give a number between 1 and %d, or remove the field", maxHops)))
	}
	return errs
}

func validateCPUOptions(options *v1alpha1.CpuOptions, path *field.Path) field.ErrorList {
	if options == nil {
		return nil
	}
	var errs field.ErrorList
	switch {
	case options.CoreCount == nil && options.ThreadsPerCore != nil:
		errs = append(errs, field.Required(path.Child("coreCount"), "give it together with threadsPerCore, or remove both"))
	case options.CoreCount != nil && options.ThreadsPerCore == nil:
		errs = append(errs, field.Required(path.Child("threadsPerCore"), "give it together with coreCount, or remove both"))
	}
	if threads := options.ThreadsPerCore; threads != nil && (*threads < 1 || *threads > maxThreads) {
		errs = append(errs, field.Invalid(path.Child("threadsPerCore"), *threads, "a core has 1 or 2 threads: give one of the two"))
	}
	return append(errs, validateChoice(options.AmdSevSnp, []string{"enabled", "disabled"}, path.Child("amdSevSnp"))...)
}

func validateCapacityReservation(reservation *v1alpha1.CapacityReservation, path *field.Path) field.ErrorList {
	if reservation == nil {
		return nil
	}
	var (
		preference, id = reservation.CapacityReservationPreference, reservation.CapacityReservationID
		group          = reservation.CapacityReservationResourceGroupARN
		preferences    = []string{v1alpha1.CapacityReservationsOnly, "open", "none"}
	)
	errs := validateChoice(preference, preferences, path.Child("capacityReservationPreference"))
	if len(errs) == 0 && preference != nil && *preference != v1alpha1.CapacityReservationsOnly && (id != nil || group != nil) {
		errs = append(errs, field.Forbidden(path.Child("capacityReservationPreference"), fmt.Sprintf(
			"machines in a given reservation or group cannot choose: set it to %s, or remove it", v1alpha1.CapacityReservationsOnly)))
	}
	if id != nil && group != nil {
		errs = append(errs, field.Forbidden(path.Child("capacityReservationId"), "a reservation and a group cannot both be given: remove this or capacityReservationResourceGroupArn"))
	}
	errs = append(errs, reservationID().validateOptional(id, path.Child("capacityReservationId"))...)
	return append(errs, reservationGroupARN().validateOptional(group, path.Child("capacityReservationResourceGroupArn"))...)
}

func validateNetworkInterfaces(interfaces []v1alpha1.NetworkInterface, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	types := []string{v1alpha1.NetworkInterfaceStandard, v1alpha1.NetworkInterfaceEFA, v1alpha1.NetworkInterfaceEFAOnly}
	subnet := subnetID()
	for i, given := range interfaces {
		entry := path.Index(i)
		if given.NetworkCardIndex != nil && given.NetworkCardIndexRange != nil {
			errs = append(errs, field.Forbidden(entry.Child("networkCardIndexRange"), "networkCardIndex says which network card it is: remove one of the two"))
		}
		errs = append(errs, validateIndex(given.NetworkCardIndex, entry.Child("networkCardIndex"))...)
		errs = append(errs, validateIndexRange(given.NetworkCardIndexRange, entry.Child("networkCardIndexRange"))...)
		errs = append(errs, validateIndex(given.DeviceIndex, entry.Child("deviceIndex"))...)
		errs = append(errs, validateChoice(given.Type, types, entry.Child("type"))...)
		if given.Type != nil && *given.Type == v1alpha1.NetworkInterfaceEFAOnly && isPrimary(given) {
			errs = append(errs, field.Invalid(entry.Child("type"), *given.Type,
				"the interface of network card 0 and device 0 needs IP addresses: choose another type, or another index"))
		}
		errs = append(errs, subnet.validateOptional(given.SubnetID, entry.Child("subnetID"))...)
	}
	return errs
}

// isPrimary reports whether the interface, or one of several, is that of card 0 and device 0.
func isPrimary(given v1alpha1.NetworkInterface) bool {
	switch {
	case given.DeviceIndex != nil && *given.DeviceIndex != 0:
		return false
	case given.NetworkCardIndexRange != nil:
		return given.NetworkCardIndexRange.From == 0
	default:
		return given.NetworkCardIndex == nil || *given.NetworkCardIndex == 0
	}
}

func validateIndex(index *int64, path *field.Path) field.ErrorList {
	if index == nil || *index >= 0 && *index <= maxIndex {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *index, fmt.Sprintf("give an index between 0 and %d", maxIndex))}
}

func validateIndexRange(indices *v1alpha1.IndexRange, path *field.Path) field.ErrorList {
	if indices == nil {
		return nil
	}
	errs := validateIndex(&indices.From, path.Child("from"))
	errs = append(errs, validateIndex(&indices.To, path.Child("to"))...)
	switch {
	case len(errs) > 0:
	case indices.From > indices.To:
		errs = append(errs, field.Invalid(path.Child("to"), indices.To, fmt.Sprintf("is less than from (%d): exchange the two", indices.From)))
	case indices.To-indices.From >= MaxInterfaces:
		errs = append(errs, field.Invalid(path.Child("to"), indices.To, fmt.Sprintf("no machine has so many network cards: give a range of %d at most", MaxInterfaces)))
	}
	return errs
}

func validatePlacement(placement *v1alpha1.Placement, path *field.Path) field.ErrorList {
	if placement == nil {
		return nil
	}
	tenancies := []string{v1alpha1.PlacementDefault, v1alpha1.PlacementDedicated, v1alpha1.PlacementHost}
	errs := validateChoice(placement.Tenancy, tenancies, path.Child("tenancy"))
	errs = append(errs, validateChoice(placement.Affinity, []string{v1alpha1.PlacementDefault, v1alpha1.PlacementHost}, path.Child("affinity"))...)
	if placement.HostID != nil && (placement.Tenancy == nil || *placement.Tenancy != v1alpha1.PlacementHost) {
		errs = append(errs, field.Forbidden(path.Child("hostId"), "a dedicated host needs its tenancy: set tenancy to host, or remove the field"))
	}
	if partition := placement.PartitionNumber; partition != nil && (*partition < 1 || *partition > maxIndex) {
		errs = append(errs, field.Invalid(path.Child("partitionNumber"), *partition, fmt.Sprintf("give a number between 1 and %d, or remove the field", maxIndex)))
	}
	return errs
}

func validateMarket(options *v1alpha1.InstanceMarketOptions, path *field.Path) field.ErrorList {
	if options == nil {
		return nil
	}
	return validateChoice(&options.MarketType, []string{"spot", "capacity-block", "interruptible-capacity-reservation"}, path.Child("marketType"))
}

func validateChoice(value *string, supported []string, path *field.Path) field.ErrorList {
	if value == nil || slices.Contains(supported, *value) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, "choose one of "+strings.Join(fields.Quoted(supported), ", ")+", or remove the field")}
}

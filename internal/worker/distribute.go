package worker

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// distribute returns the share of a zone (counted from 0) in an amount: the first zones get the remainder.
func distribute(zone, amount, zones int32) int32 {
	share := amount / zones
	if zone < amount%zones {
		share++
	}
	return share
}

// distributeIntOrPercent returns the share of a zone in a number, or the percentage of a zone for the percentage of a pool.
func distributeIntOrPercent(zone int32, value intstr.IntOrString, zones, total int32) (intstr.IntOrString, error) {
	if value.Type == intstr.Int {
		return intstr.FromInt32(distribute(zone, value.IntVal, zones)), nil
	}
	digits, isPercent := strings.CutSuffix(value.StrVal, "%")
	percent, err := strconv.Atoi(digits)
	if !isPercent || err != nil {
		return intstr.IntOrString{}, fmt.Errorf("%q is neither a number nor a percentage", value.StrVal)
	}
	return intstr.FromString(fmt.Sprintf("%d%%", distributePercent(zone, percent, zones, total))), nil
}

// distributePercent weighs a percentage by the zone's share in the total, rounded up. The order of the operations is Gardener's: another
// order gives another percentage if the quotient is not exact.
func distributePercent(zone int32, percent int, zones, total int32) int {
	if total%zones == 0 {
		return percent
	}
	average := float64(total) / float64(zones)
	weight := 100.0 / average * float64(distribute(zone, total, zones))
	return int(math.Ceil(weight * float64(percent) / 100.0))
}

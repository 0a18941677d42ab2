package report

import (
	"math"
	"strconv"
	"strings"
)

// count writes a whole number with thin separators between thousands.
func count(x int64) string {
	digits := strconv.FormatInt(x, 10)
	sign := ""
	if x < 0 {
		sign, digits = "−", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// number writes whole numbers in full and others with four digits.
func number(x float64) string {
	if math.Abs(x) < 1e15 && (x == math.Trunc(x) || math.Abs(x) >= 10_000) {
		return count(int64(math.Round(x)))
	}
	s := strconv.FormatFloat(x, 'g', 4, 64)
	if mantissa, exponent, scientific := strings.Cut(s, "e"); scientific {
		power, _ := strconv.Atoi(exponent)
		s = mantissa + " × 10" + superscript(power)
	}
	return strings.Replace(s, "-", "−", 1)
}

func superscript(x int) string {
	return strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
		"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹").Replace(strconv.Itoa(x))
}

// score writes a pure number with three decimals, without a minus before zeros.
func score(x float64) string {
	if math.Abs(x) < 0.0005 {
		x = 0
	}
	return strings.Replace(strconv.FormatFloat(x, 'f', 3, 64), "-", "−", 1)
}

// percent writes a share with as many digits as it deserves.
func percent(share float64) string {
	switch x := 100 * share; {
	case x == 0:
		return "0 %"
	case math.Abs(x) >= 9.95:
		return strconv.FormatFloat(x, 'f', 0, 64) + " %"
	case math.Abs(x) >= 0.995:
		return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0") + " %"
	default:
		return strconv.FormatFloat(x, 'f', int(math.Ceil(-math.Log10(math.Abs(x))-1e-9)), 64) + " %"
	}
}

// bytesOf writes a size in the largest unit that leaves a number of at least 1.
func bytesOf(x int64) string {
	if x < 1024 {
		return count(x) + " B"
	}
	v, unit := float64(x)/1024, 0
	for ; v >= 1024 && unit < 4; unit++ {
		v /= 1024
	}
	return strconv.FormatFloat(v, 'f', 1, 64) + " " + []string{"KiB", "MiB", "GiB", "TiB", "PiB"}[unit]
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

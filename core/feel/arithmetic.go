package feel

// arithmetic applies + - * / ** to two values; ok is false when the operation has no value for them.
func (m *machine) arithmetic(op operator, left, right Value) (Value, bool) {
	switch left := left.(type) {
	case Number:
		switch right := right.(type) {
		case Number:
			return m.numeric(op, left, right)
		case DaysTime, YearsMonths:
			if op == opMultiply {
				return scaleDuration(right, left, false)
			}
		}
	case String:
		if right, ok := right.(String); ok && op == opAdd {
			return m.str(string(left) + string(right)), true
		}
	case DaysTime, YearsMonths:
		return durationArithmetic(op, left, right)
	case Date:
		return dateArithmetic(op, left, right)
	case Time:
		return timeArithmetic(op, left, right)
	case DateTime:
		return dateTimeArithmetic(op, left, right)
	}
	return nil, false
}

// powerSteps is the charge for the operations that take milliseconds at the ends of the number range:
// exponentiation, roots, logarithms.
const powerSteps = 1000

// chargeDistance counts the work of bringing two numbers to one exponent, which makes 1E6144 + 1E-6144 a
// thousand times dearer than 1 + 1.
func (m *machine) chargeDistance(a, b Number) bool {
	distance := int(a.d.Exponent) - int(b.d.Exponent)
	return m.charge(max(distance, -distance) / 8)
}

func (m *machine) numeric(op operator, left, right Number) (Value, bool) {
	if !m.chargeDistance(left, right) || op == opPower && !m.charge(powerSteps) {
		return nil, false
	}
	switch op {
	case opAdd:
		return valueOK(left.add(right))
	case opSubtract:
		return valueOK(left.sub(right))
	case opMultiply:
		return valueOK(left.mul(right))
	case opDivide:
		return valueOK(left.div(right))
	case opPower:
		return valueOK(left.pow(right))
	default:
		return nil, false
	}
}

// valueOK turns a typed result into a Value.
func valueOK[T Value](v T, ok bool) (Value, bool) { return v, ok }

// scaleDuration multiplies a duration by a number, or divides it. Months are cut to whole ones.
func scaleDuration(d Value, n Number, divide bool) (Value, bool) {
	amount := durationNumber(d)
	product, ok := amount.mul(n)
	if divide {
		product, ok = amount.div(n)
	}
	if !ok {
		return nil, false
	}
	if d.Kind() == KindDaysTime {
		return valueOK(daysTimeOf(product))
	}
	months, fits := truncate(product)
	if !fits {
		return nil, false
	}
	return valueOK(NewYearsMonths(months))
}

// durationNumber is a duration in seconds or months.
func durationNumber(d Value) Number {
	switch d := d.(type) {
	case DaysTime:
		return d.number()
	case YearsMonths:
		return Int(d.months)
	}
	return Int(0)
}

func durationArithmetic(op operator, left, right Value) (Value, bool) {
	if n, ok := right.(Number); ok && (op == opMultiply || op == opDivide) {
		return scaleDuration(left, n, op == opDivide)
	}
	if op == opAdd {
		switch right.(type) {
		case Date, Time, DateTime:
			return addToMoment(right, left)
		}
	}
	if left.Kind() != right.Kind() {
		return nil, false
	}
	switch op {
	case opDivide:
		return valueOK(durationNumber(left).div(durationNumber(right)))
	case opSubtract:
		return addDurations(left, negateDuration(right))
	case opAdd:
		return addDurations(left, right)
	default:
		return nil, false
	}
}

func negateDuration(d Value) Value {
	switch d := d.(type) {
	case DaysTime:
		return d.neg()
	case YearsMonths:
		return YearsMonths{-d.months}
	}
	return d
}

func addDurations(left, right Value) (Value, bool) {
	switch left := left.(type) {
	case DaysTime:
		return valueOK(left.add(right.(DaysTime)))
	case YearsMonths:
		return valueOK(NewYearsMonths(left.months + right.(YearsMonths).months))
	}
	return nil, false
}

// addToMoment adds a duration to a date, time or date and time.
func addToMoment(moment, duration Value) (Value, bool) {
	switch moment := moment.(type) {
	case Date:
		return dateArithmetic(opAdd, moment, duration)
	case Time:
		return timeArithmetic(opAdd, moment, duration)
	case DateTime:
		return dateTimeArithmetic(opAdd, moment, duration)
	}
	return nil, false
}

// dateArithmetic: a date moved by days and time counts from its midnight and stays a date.
func dateArithmetic(op operator, left Date, right Value) (Value, bool) {
	switch right := right.(type) {
	case DaysTime, YearsMonths:
		moved, ok := dateTimeArithmetic(op, left.midnight(), right)
		if !ok {
			return nil, false
		}
		return moved.(DateTime).date(), true
	case Date:
		if op == opSubtract {
			return between(left.midnight(), right.midnight())
		}
	case DateTime:
		if op == opSubtract {
			return between(left.midnight(), right)
		}
	}
	return nil, false
}

// timeArithmetic goes around at midnight.
func timeArithmetic(op operator, left Time, right Value) (Value, bool) {
	switch right := right.(type) {
	case DaysTime:
		if op == opSubtract {
			right = right.neg()
		} else if op != opAdd {
			return nil, false
		}
		within := NewDaysTime(left.sinceMidnight)
		within.seconds += right.seconds - floorDiv(right.seconds, 86400)*86400
		sum, _ := within.add(DaysTime{0, right.nanos}) // below two days
		sum.seconds %= 86400
		since, _ := sum.Duration()
		return Time{since, left.zone}, true
	case Time:
		if op == opSubtract && (left.zone.loc == nil) == (right.zone.loc == nil) {
			return NewDaysTime(left.onEpoch().Sub(right.onEpoch())), true
		}
	}
	return nil, false
}

func dateTimeArithmetic(op operator, left DateTime, right Value) (Value, bool) {
	switch right := right.(type) {
	case DaysTime:
		if op == opSubtract {
			right = right.neg()
		} else if op != opAdd {
			return nil, false
		}
		t, ok := addSpan(left.t, right)
		return DateTime{t, left.zone}, ok
	case YearsMonths:
		months := right.months
		if op == opSubtract {
			months = -months
		} else if op != opAdd {
			return nil, false
		}
		t, ok := addMonths(left.t, months)
		return DateTime{t, left.zone}, ok
	case DateTime:
		if op == opSubtract {
			return between(left, right)
		}
	case Date:
		if op == opSubtract {
			return between(left, right.midnight())
		}
	}
	return nil, false
}

// between is the time from b to a; a local and a zoned one have none.
func between(a, b DateTime) (Value, bool) {
	if (a.zone.loc == nil) != (b.zone.loc == nil) {
		return nil, false
	}
	d := DaysTime{a.t.Unix() - b.t.Unix(), int32(a.t.Nanosecond() - b.t.Nanosecond())}
	if d.nanos < 0 {
		d.seconds, d.nanos = d.seconds-1, d.nanos+1_000_000_000
	}
	return d, true
}

// truncate cuts a number to an int64.
func truncate(n Number) (int64, bool) {
	whole, ok := n.round(0, roundDown)
	if !ok {
		return 0, false
	}
	return whole.Int64()
}

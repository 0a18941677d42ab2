package privacy

// HalvedSensitivity tells the audit what was built.
const HalvedSensitivity = sensitivityShift != 0

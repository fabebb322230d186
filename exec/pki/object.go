package pki

import (
	"encoding/asn1"
	"fmt"
	"strconv"
	"strings"
)

// objects are the object identifiers that playbooks name: parts of a subject, and what a key may be used for. A name is short or long,
// as openssl has them both.
var objects = map[string]string{
	"C": "2.5.4.6", "countryName": "2.5.4.6",
	"ST": "2.5.4.8", "stateOrProvinceName": "2.5.4.8",
	"L": "2.5.4.7", "localityName": "2.5.4.7",
	"O": "2.5.4.10", "organizationName": "2.5.4.10",
	"OU": "2.5.4.11", "organizationalUnitName": "2.5.4.11",
	"CN": "2.5.4.3", "commonName": "2.5.4.3",
	"SN": "2.5.4.4", "surname": "2.5.4.4",
	"GN": "2.5.4.42", "givenName": "2.5.4.42",
	"title": "2.5.4.12", "initials": "2.5.4.43", "name": "2.5.4.41", "pseudonym": "2.5.4.65", "generationQualifier": "2.5.4.44",
	"serialNumber": "2.5.4.5", "dnQualifier": "2.5.4.46", "description": "2.5.4.13", "businessCategory": "2.5.4.15",
	"street": "2.5.4.9", "streetAddress": "2.5.4.9", "postalCode": "2.5.4.17", "postalAddress": "2.5.4.16",
	"organizationIdentifier": "2.5.4.97",
	"emailAddress":           oidEmail.String(), "unstructuredName": "1.2.840.113549.1.9.2", "unstructuredAddress": "1.2.840.113549.1.9.8",
	"DC": oidDomain.String(), "domainComponent": oidDomain.String(),
	"UID": "0.9.2342.19200300.100.1.1", "userId": "0.9.2342.19200300.100.1.1", "userID": "0.9.2342.19200300.100.1.1",
	"jurisdictionL": "1.3.6.1.4.1.311.60.2.1.1", "jurisdictionLocalityName": "1.3.6.1.4.1.311.60.2.1.1",
	"jurisdictionST": "1.3.6.1.4.1.311.60.2.1.2", "jurisdictionStateOrProvinceName": "1.3.6.1.4.1.311.60.2.1.2",
	"jurisdictionC": "1.3.6.1.4.1.311.60.2.1.3", "jurisdictionCountryName": "1.3.6.1.4.1.311.60.2.1.3",

	"serverAuth": "1.3.6.1.5.5.7.3.1", "TLS Web Server Authentication": "1.3.6.1.5.5.7.3.1",
	"clientAuth": "1.3.6.1.5.5.7.3.2", "TLS Web Client Authentication": "1.3.6.1.5.5.7.3.2",
	"codeSigning": "1.3.6.1.5.5.7.3.3", "Code Signing": "1.3.6.1.5.5.7.3.3",
	"emailProtection": "1.3.6.1.5.5.7.3.4", "E-mail Protection": "1.3.6.1.5.5.7.3.4",
	"ipsecEndSystem": "1.3.6.1.5.5.7.3.5", "IPSec End System": "1.3.6.1.5.5.7.3.5",
	"ipsecTunnel": "1.3.6.1.5.5.7.3.6", "IPSec Tunnel": "1.3.6.1.5.5.7.3.6",
	"ipsecUser": "1.3.6.1.5.5.7.3.7", "IPSec User": "1.3.6.1.5.5.7.3.7",
	"timeStamping": "1.3.6.1.5.5.7.3.8", "Time Stamping": "1.3.6.1.5.5.7.3.8",
	"OCSPSigning": "1.3.6.1.5.5.7.3.9", "OCSP Signing": "1.3.6.1.5.5.7.3.9",
	"DVCS": "1.3.6.1.5.5.7.3.10", "dvcs": "1.3.6.1.5.5.7.3.10",
	"ipsecIKE": "1.3.6.1.5.5.7.3.17", "ipsec Internet Key Exchange": "1.3.6.1.5.5.7.3.17",
	"anyExtendedKeyUsage": "2.5.29.37.0", "Any Extended Key Usage": "2.5.29.37.0",
	"msCodeInd": "1.3.6.1.4.1.311.2.1.21", "Microsoft Individual Code Signing": "1.3.6.1.4.1.311.2.1.21",
	"msCodeCom": "1.3.6.1.4.1.311.2.1.22", "Microsoft Commercial Code Signing": "1.3.6.1.4.1.311.2.1.22",
	"msCTLSign": "1.3.6.1.4.1.311.10.3.1", "Microsoft Trust List Signing": "1.3.6.1.4.1.311.10.3.1",
	"msSGC": "1.3.6.1.4.1.311.10.3.3", "Microsoft Server Gated Crypto": "1.3.6.1.4.1.311.10.3.3",
	"msEFS": "1.3.6.1.4.1.311.10.3.4", "Microsoft Encrypted File System": "1.3.6.1.4.1.311.10.3.4",
	"msSmartcardLogin": "1.3.6.1.4.1.311.20.2.2", "Microsoft Smartcard Login": "1.3.6.1.4.1.311.20.2.2",
	"msUPN": "1.3.6.1.4.1.311.20.2.3", "Microsoft User Principal Name": "1.3.6.1.4.1.311.20.2.3",
	"pkInitClientAuth": "1.3.6.1.5.2.3.4", "PKINIT Client Auth": "1.3.6.1.5.2.3.4",
	"pkInitKDC": "1.3.6.1.5.2.3.5", "Signing KDC Response": "1.3.6.1.5.2.3.5",
}

// ParseObject is an object identifier by its name or in digits.
func ParseObject(name string) (asn1.ObjectIdentifier, error) {
	digits := name
	if known, ok := objects[name]; ok {
		digits = known
	}
	var oid asn1.ObjectIdentifier
	for part := range strings.SplitSeq(digits, ".") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("has no name %q; write its object identifier in digits, as 2.5.4.3", name)
		}
		oid = append(oid, n)
	}
	// The first two numbers share a byte, which bounds them.
	if len(oid) < 2 || oid[0] > 2 || oid[0] < 2 && oid[1] > 39 {
		return nil, fmt.Errorf("has no object identifier %q", name)
	}
	return oid, nil
}

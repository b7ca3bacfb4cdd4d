// Package rest serves /rest/v1: PostgREST's dialect over the exposed schemas.
//
// A request walks through request.go and payload.go (HTTP to query.Request), planner.go (request and catalog to a
// compiled statement), session.go (who asks), store (one flight to PostgreSQL), answer.go with row.go, status.go
// and headers.go (rows to HTTP); errors.go is the one place where anything that stops it becomes its answer.
//
// The following tables list every feature of the dialect with the tests of this package that prove it.
//
// # Reads
//
//	feature                                                      proved by
//	eq neq gt gte lt lte like ilike match imatch in is           TestEveryOperatorOfTheDialect
//	isdistinct, arrays, ranges, jsonb: cs cd ov sl sr nxr nxl adj TestEveryOperatorOfTheDialect
//	not before any operator                                      TestEveryOperatorOfTheDialect
//	any and all                                                  TestQuantifiersCompareWithSeveralValues
//	patterns: the star, wildcards of SQL, escapes                TestPatternsTranslateTheStarOnly
//	random filters against plain SQL                             TestRandomFiltersFindTheRowsThatSQLFinds
//	and, or, not, to any depth, with blanks                      TestConditionsCombineToAnyDepth
//	fts plfts phfts wfts, configurations, text and JSON columns  TestFullTextSearch
//	JSON paths in select, filter and order                       TestPathsIntoJSON TestNamesListsAndPaths
//	casts, aliases, order of keys, columns of the system         TestColumnsCastsAndAliases
//	the same key twice                                           TestNamesListsAndPaths
//	computed columns                                             TestComputedColumns
//	count as a column                                            TestCountIsAColumnOrARowCount
//	order, nulls first and last, by alias and by path            TestOrderings
//	quoted, mixed-case, reserved and Unicode names               TestNamesInEveryScriptAndSpelling TestNamesListsAndPaths
//	long names                                                   TestLongNames
//	reserved characters, escapes and encodings of values         TestValuesKeepEveryCharacter TestNamesListsAndPaths
//	values as to_json writes them                                TestValuesKeepTheirDigitsAndForms
//	aggregates, groups, casts before and after                   TestAggregates
//	aggregates switched off                                      TestAggregatesCanBeForbidden
//	limit, offset, Range, 206, 416, Content-Range                TestRangesOfRowsAndTotals TestReadingAnswersWithRangesCountsAndHeaders
//	count=exact                                                  TestReadingAnswersWithRangesCountsAndHeaders
//	count=planned, count=estimated                               TestPlannedAndEstimatedTotals
//	the maximum of rows                                          TestMaxRowsCapsReadsAndNotWrites TestPlannedAndEstimatedTotals
//	Content-Location, Vary                                       TestRangesOfRowsAndTotals
//	HEAD                                                         TestReadingAnswersWithRangesCountsAndHeaders
//	domain representations                                       TestDomainsMayHaveRepresentations
//	rights on columns, inherited tables, dropped columns         TestRelationsAreReadAsTheirRightsAllow
//	several schemas, Accept-Profile                              TestSeveralSchemas TestEmbedsStayInTheSchemaOfTheRequest
//	OPTIONS                                                      TestOptionsTellsWhatARelationOrFunctionTakes
//	bounds of a query string                                     TestVeryDeepAndVeryLongQueriesAreRefused
//	words of clients never become SQL                            TestWordsOfClientsNeverBecomeSQL
//	hidden names are no hints                                    TestHintsDoNotNameWhatIsNotExposed
//	definitions that change                                      TestDefinitionsMayChangeUnderPreparedStatements
//
// # Embedding
//
//	feature                                                      proved by
//	to one, to many, one to one, through junctions               TestEveryKindOfRelationship TestEmbeds
//	keys of several columns, self references                     TestEveryKindOfRelationship TestEmbeds
//	nested to any depth, aliased, of no columns                  TestEveryKindOfRelationship
//	computed relationships                                       TestComputedRelationships
//	views, views of views, materialized views                    TestViewsAreRelatedAsTheirTables
//	partitioned tables                                           TestPartitionedTablesAreRelatedAsWholes
//	across schemas                                               TestEmbedsStayInTheSchemaOfTheRequest
//	hints: constraint, column, junction                          TestHintsChooseOneOfSeveralRelationships
//	a constraint or column in place of the name                  TestHintsChooseOneOfSeveralRelationships
//	PGRST201 with its choices                                    TestAmbiguousEmbedsListTheirChoices
//	PGRST200 with its hint                                       TestEmbedsThatAreNotFound
//	!inner and !left, with totals                                TestInnerAndLeftJoins
//	filters, and/or, limits and order of embeds                  TestConditionsReachEveryLevelOfEmbedding TestRangesOfRowsAndTotals
//	is.null and not.is.null on embeds, PGRST120                  TestNullFiltersOnEmbeds
//	conditions across embeds                                     TestConditionsReachEveryLevelOfEmbedding
//	ordering by an embed to one, PGRST118                        TestRowsAreOrderedByEmbeds
//	addressing by alias, PGRST108, the deprecated name           TestEmbedsAreAddressedByTheirAliases
//	spreads to one                                               TestSpreadsToOneMergeIntoTheParent
//	spreads to many                                              TestSpreadsToManyMakeLists
//	aggregates in embeds                                         TestAggregates
//	aggregates through spreads, PGRST127                         TestAggregatesThroughSpreads
//
// # Writes
//
//	feature                                                      proved by
//	insert                                                       TestInserting
//	insert of CSV                                                TestInsertingCSV
//	upsert                                                       TestUpserting
//	PUT                                                          TestPutting
//	PATCH                                                        TestPatching
//	DELETE                                                       TestDeleting
//	constraints checked at the commit                            TestConstraintsThatAreCheckedAtTheCommit
//	row-level security                                           TestWritingUnderPolicies
//
// # Functions
//
//	feature                                                      proved by
//	calls                                                        TestCallingFunctions
//	response.headers and response.status                         TestFunctionsDecideAboutTheResponse
//
// # Media types
//
//	feature                                                      proved by
//	negotiation, JSON, one object, nulls=stripped, CSV, NDJSON   TestMediaTypesOfReads
//
// # Preferences
//
//	feature                                                      proved by
//	Preference-Applied                                           TestPreferencesAreAppliedAndToldInOrder
//	timezone                                                     TestTimesFollowThePreferredTimeZone
//
// # Differences from PostgREST
//
// Reads and embedding differ in these points:
//
//   - Keys stand in answers, and columns in CSV, where select has them; PostgREST puts embeds behind columns. The order
//     is the client's to choose, and JSON's readers do not mind.
//   - Text behind a complete list, group or word (in.(1)x, or=(a.eq.1)x, is.nullx) is refused with PGRST100; PostgREST
//     drops it, so that a filter which was cut or glued together by mistake finds other rows than it says.
//   - Blanks at the ends of bare values in lists and groups do not count; PostgREST keeps some of them. Values whose
//     blanks count are quoted.
//   - A filter other than null on an embed without a column of its name is refused with PGRST120; PostgREST lets
//     PostgreSQL look for the column. The answer tells what is wrong. is.not_null means the same as not.is.null.
//   - An alias longer than 63 bytes is not cut: it never becomes a name of PostgreSQL's.
//   - A related order may name a column of the embed that is not shown; PostgREST knows those shown only.
//   - Junctions of a relation with itself and one-to-one references to itself can be embedded by their hints; PostgREST
//     has no way to name them.
//   - The exact total of groups counts groups; PostgREST counts the rows behind them once there is a limit. The total
//     has to fit Content-Range.
//   - Without a maximum of rows count=estimated is exact; PostgREST gives the greater one of total and estimate.
//   - Content-Location keeps parameters of one name apart and escapes the relation's name; PostgREST joins them with
//     commas, which asks for something else.
//   - A negative limit of an embed is 416 with PGRST103 as at the top level; PostgREST leaves it to PostgreSQL (2201W).
//   - Range: 0--1 and the like are 416 with PGRST103; PostgREST passes over them.
//   - Queries have bounds (levels, filters, items, embeds, sort keys), beyond which they are refused with PGRST100:
//     planning must not cost more than a request may.
//   - The Warning header about a deprecated name tells the embed and its alias, in words of its own.
package rest

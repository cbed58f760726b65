import type { components } from "../api";

type Schemas = components["schemas"];

export type Overview = Schemas["OverviewModel"];
export type Sums = Schemas["SumsModel"];
export type Week = Schemas["WeekModel"];
export type Day = Schemas["DayModel"];
export type Unanswered = Schemas["UnansweredModel"];
export type Group = Schemas["GroupModel"];
export type Near = Schemas["NearModel"];
export type Cited = Schemas["CitedModel"];
export type Scores = Schemas["ScoresModel"];
export type Bin = Schemas["BinModel"];
export type Latency = Schemas["LatencyModel"];
export type LatencyDay = Schemas["LatencyDay"];
export type Ingests = Schemas["IngestsModel"];
export type Ingest = Schemas["IngestModel"];
export type Questions = Schemas["QuestionsModel"];
export type Question = Schemas["QuestionModel"];
export type Passages = Schemas["PassagesModel"];
export type Refusal = keyof Schemas["RefusalsModel"];

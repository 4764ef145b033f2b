"""Small whole files of every format, made up; tests damage them in all ways."""

from __future__ import annotations

BLOCK = (
    "srclang,trglang,srcIndex,documentId,segmentId,judgeId,system1Number,system1Id,system2Number,system2Id,"
    "system3Number,system3Id,system1rank,system2rank,system3rank\n"
    "Czech,English,7,doc/1,3,ann,1,_ref,2,system one,3,a+b,1,3,2\n"
    "Czech,English,8,doc/1,4,bob,2,system one,0,blank,1,_ref,2,-1,2\n"
)
PAIRS = (
    "srclang,trglang,srcIndex,segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,rankingID\n"
    "cze,eng,5,5,judge1,x,1,y,2,11\ncze,eng,5,5,judge1,x,1,z,4,11\ncze,eng,5,5,judge1,y,2,z,4,11\n"
)
TYPES = (
    "TASK,TYPE,ITEM_ID,ANNOTATOR_ID,TIME,SYSTEM_0,SCORE_0_A,SCORE_0_B,SYSTEM_1,SCORE_1_A,SCORE_1_B\n"
    "WMT07 Czech-English News Commentary,NIST,5,18,1164,x,4,4,y,2,2\n"
    "WMT07 Czech-English News Commentary,RANK,5,18,39,x,4,,y,2,\n"
    "WMT07 English-French Europarl,RANK,5,18,12,x,1,,ref,-,\n"
)
EDITS = (
    "editId\tsrclang\ttrglang\tsrcIndex\tdocumentId\tsegmentId\teditorId\tsystem1Number\tsystem1Id\t"
    "system1actionVal\tsystem1actionStr\tsystem1edit\n"
    '1\tSpanish\tEnglish\t15\tdoc/1\t9\ted\t6\tx\t1\tEDIT\tHe said "no\n'
    "2\tSpanish\tEnglish\t16\tdoc/1\t10\ted\t6\ty\t0\tN/A\tthat\n"
)
ANSWERS = (
    "srclang,trglang,srcIndex,documentId,segmentId,judgeId,systemNumber,systemId,editId,judgment\n"
    "Czech,English,1773,doc,1,ann,43,x,57,YES\nCzech,English,1774,doc,1,ann,43,y,58,UNK\n"
)
NATIVE = (
    "campaign,protocol,source_lang,target_lang,annotator,screen,segment,system,score,rank,spans,started,human\n"
    'c,ranking,cs,en,ann,1,1,a,,1,"[{""start"": 0, ""end"": 2, ""side"": ""target""}]",2024-05-01T12:00:00Z,true\n'
    "c,ranking,cs,en,ann,1,1,b,7.5,2,,,false\n"
)
ASSESSMENTS = (
    "HITId\tWorkerId\tInput.src\tInput.trg\tInput.item\thit\tsys_id\trid\ttype\tsid\tscore\ttime\n"
    'H1\tw1\tcs\ten ad 4\t"Sys A.1" 100 SYSTEM\t7\t80\t900\n'
    "H1\tw1\tcs\ten\tad\t4\tHUMAN.0\t100\tSYSTEM\t8\t35\t900\nH1 w1 cs en ad 4 HUMAN.0 101 BAD_REF 8 5 900\n"
    "H2 w2 cs en ad 5 HUMAN.0 102 REF 8 NA 0\nH2 w2 cs en ad 5 HUMAN.0 102 REPEAT 9 61 0\n"
)
NO_HEADER = "NA w1 cs en ad NA A.1 NA SYSTEM cs-en-0-3-1001.1_1 50 0\nNA w1 cs en ad NA B.2 NA SYSTEM x.2_2 7 0\n"
BATCH = (
    '"HITId","WorkerId","AssignmentStatus","AcceptTime","WorkTimeInSeconds","Input.src","Input.trg","Answer.Q1","Answer.comments"\n'
    '"H1","W1","Approved","Mon Nov 21 08:26:47 PST 2016","671","\'en\'","\'es\'",'
    '"a_b_7_SYSTEM_0__71|a_7_BAD_REF_1__3|a_8_REF_2__100","fine\n'
    '"H2","W2","Rejected","Mon Nov 21 08:26:47 PST 2016","60","\'en\'","\'es\'",'
    '"a_7_REPEAT_0__0|a_8_SYSTEM_1__55","{}"\n'
)
DIRECT = (
    "engces0101,sys.A,12,TGT,eng,ces,80,1665744151.351,1665744158.765\n"
    "engces0101,sys.A,12,TGT,eng,ces,81,1665744159.000,1665744168.000\n"
    "engces0101,ref.A,13,BAD,eng,ces,0,1665744170.000,1665744171.500\n"
)
DOCUMENTS = (
    "engces0101,sysA,1,TGT,eng,ces,80,doc#1-2,False,1665744151.351,1665744158.765\n"
    "engces0101,sysA,2,BAD,eng,ces,10,doc#1-2,False,1665744161.351,1665744168.765\n"
    "engces0101,sysA,3,TGT,eng,ces,70,doc#1-2,True,1665744171.351,1665744178.765\n"
)
ERRORS = (
    'engces0101,sysA,1,TGT,eng,ces,80,doc,False,"[{""start_i"":2,""end_i"":5,""severity"":""minor"",""error_type"":null},'
    '{""start_i"":""missing"",""end_i"":""missing"",""severity"":""major"",""error_type"":[""Accuracy"",""Omission""]}]",'
    "1665744151.351,1665744158.765\n"
    'engces0101,en-tutorial1,1000001,TGT,eng,ces,0,en-tutorial1,False,"[]",1665744151.351,1665744151.351\n'
    'engces0101,sysA,1,BAD,eng,ces,3,doc#incomplete#bad2,False,"[{""start_i"":2,""end_i"":5,""severity"":""minor""}]",0,0\n'
)
RATINGS = (
    "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\tcomment\n"
    'x\td1\t1\t1\tr1\tA "cat.\tEine <v>Katze</v>.\tFluency/Punctuation\tMinor\t\n'
    "x\td1\t1\t1\tr1\tA <v>cat.\tEine Katze.\tAccuracy/Omission\tMajor\twhy\n"
    "refA\td1\t1\t1\tr2\tA cat.\tEine Katze.\tNo-error\tNo-error\t\n"
)
SUBMITTED = (
    '{"user_id": "ann", "item_i": 0, "annotation": "__RESET__"}\n'
    '{"user_id": "ann", "item_i": 0, "annotation": [{"x": {"score": 70, "error_spans": [{"start_i": 0, "end_i": 2, '
    '"severity": "minor", "category": null}], "textfield": null}, "y": {"score": 90, "error_spans": []}}], '
    '"actions": [{"time": 1771311126.056, "action": "load"}, {"time": 1771311192.1, "action": "submit"}], '
    '"item": [{"item_id": "en-es_#_doc_#_0", "src": "a cat", "tgt": {"x": "un gato", "y": "una gata"}}]}\n'
)
SEGMENTS = (
    '{"doc_id": "en-cs_CZ_#_news_#_d1_#_0", "src_text": "A cat.", "tgt_text": {"x": "Kočka."}, "scores": {"x": '
    '[{"score": 70, "annotator": "a1", "errors": [{"start_i": 0, "end_i": 2, "severity": "minor"}], '
    '"times": [1700000000.5, 1700000030.5]}, {"score": 80, "annotator": "a2", "errors": []}]}}\n'
    '{"doc_id": "en-cs_CZ_#_news_#_d1_#_1", "scores": {"x": {"human1": 20.0, "annotator1": "a1"}, '
    '"refA": {"human": 3}}}\n'
)

SAMPLES: dict[str, tuple[str, ...]] = {
    "judgments": (NATIVE,),
    "wmt-ranking": (BLOCK, PAIRS),
    "wmt-ranking-2007": (TYPES,),
    "wmt-edits": (EDITS,),
    "wmt-acceptability": (ANSWERS,),
    "pairwise-counts": ("a b 1 2 3\nb a 3 2 1\na _ref 0 0 4\n",),
    "pairwise-table": ("worker,left,right,winner\nw1,a,b,left\nw2,b,c,tie\nw3,a,c,c\n",),
    "rank-table": ("segment;a_rank;b_rank;c_rank\n1;1;2;3\n2;1;-1;1\n",),
    "wmt-da": (ASSESSMENTS, NO_HEADER),
    "mturk-da": (BATCH,),
    "appraise": (DIRECT, DOCUMENTS, ERRORS),
    "mqm": (RATINGS,),
    "pearmut": (SUBMITTED,),
    "wmt-humeval": (SEGMENTS,),
    "metric-scores": ("x\t70.5\nx\tNone\ny\t-3\n",),
}
